#!/bin/sh
# Runs a shell command in a Debian root, in the folder of the checkout, as one of its users. The caller starts this
# script in its own mount and process namespaces. Rust and Node come from the machine.
# Usage: enter.sh ROOT RUST NODE NPM USER COMMAND
set -eu
root=$1 rust=$2 node=$3 npm=$4 user=$5 command=$6

# pivot_root needs a mount point.
mount --bind "$root" "$root"
cd "$root"
mount -t proc proc proc
mount --rbind /sys sys
mount --rbind /dev dev
mkdir -p opt/rust opt/node/bin opt/node/lib/node_modules/npm
touch opt/node/bin/node
mount --bind -o ro "$rust" opt/rust
mount --bind -o ro "$node" opt/node/bin/node
mount --bind -o ro "$npm" opt/node/lib/node_modules/npm
for tool in npm npx; do
  ln -sf "../lib/node_modules/npm/bin/$tool-cli.js" "opt/node/bin/$tool"
done
pivot_root . mnt
cd /
umount --lazy /mnt

home=$(getent passwd "$user" | cut -d: -f6)
# The user inherits only the variables for certificates and proxies.
set -- HOME="$home" USER="$user" LANG=C.UTF-8 TERM=dumb \
  PATH=/opt/rust/bin:/opt/node/bin:/usr/local/bin:/usr/bin:/bin
for name in SSL_CERT_FILE NODE_EXTRA_CA_CERTS PIP_CERT http_proxy https_proxy no_proxy; do
  eval "value=\${$name-}"
  [ -z "$value" ] || set -- "$@" "$name=$value"
done
cd /home/dev/companion
# This shell stays the first process of its namespace, because it reaps orphaned processes.
setpriv --reuid="$user" --regid="$user" --init-groups env -i "$@" bash -c "$command"
