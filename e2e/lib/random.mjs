// Generates repeatable random numbers.

/** Generates numbers from 0 to `count` - 1. The same seed gives the same numbers (mulberry32). */
export function randomOf(seed) {
  return (count) => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % count;
  };
}
