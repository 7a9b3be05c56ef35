"""Draws the platform's icons, all of which Debian removed: a plain grey sign for each, chosen by the icon's name.

Usage: icons.py TARGET SOURCE_ROOT...
Every picture that a source file names becomes an SVG, which the platform prefers to a PNG of the same name.
"""

import re
import sys
from itertools import product
from pathlib import Path

GREY, RED, YELLOW, GREEN, BLUE = "#7F8B91", "#DB5860", "#E0A030", "#59A869", "#389FD6"

# Signs on a field of 16 x 16; `*` stands for the colour. A bare path is stroked.
UP, DOWN, LEFT, RIGHT = "M4 10l4-4 4 4", "M4 6l4 4 4-4", "M10 4l-4 4 4 4", "M6 4l4 4-4 4"
CROSS, PLUS, MINUS, CHECK = "M4.5 4.5l7 7m0-7l-7 7", "M8 3v10M3 8h10", "M3 8h10", "M3 8.5l3.5 3.5L13 5"
LINES = "M3 4h10M3 8h10M3 12h7"
LENS = "M10.5 10.5l3.5 3.5M7 2.8a4.2 4.2 0 1 0 .01 0z"
GEAR = "M8 5.5a2.5 2.5 0 1 0 .01 0zM8 1.8v2M8 12.2v2M1.8 8h2M12.2 8h2M3.6 3.6L5 5m6 6l1.4 1.4m0-8.8L11 5M5 11l-1.4 1.4"
ROUND = "M13 8a5 5 0 1 1-2-4m.5-2.5v3h-3"
BACK = "M7 3L3.5 6.5 7 10M4 6.5h5a3.5 3.5 0 0 1 0 7H6"
FORTH = "M9 3l3.5 3.5L9 10m3-3.5H7a3.5 3.5 0 0 0 0 7h3"
PENCIL = "M3 13l1-3.5 7-7L13.5 5l-7 7z"
BRANCH = "M5 5.5v5M5 3a1.2 1.2 0 1 0 .01 0zM5 11a1.2 1.2 0 1 0 .01 0zM11 3a1.2 1.2 0 1 0 .01 0zM11 5.5c0 3-6 2-6 5"
FUNNEL = "M2.5 3h11L9.5 8.5V13l-3-1.5v-3z"
BULB = "M8 2.5a4 4 0 0 0-2.3 7.2V12h4.6V9.7A4 4 0 0 0 8 2.5zM6.5 14.2h3"
EYE = "M1.5 8S4 4 8 4s6.5 4 6.5 4-2.5 4-6.5 4-6.5-4-6.5-4zM8 6.5a1.5 1.5 0 1 0 .01 0z"
STAR = "M8 2l1.8 3.9 4.2.5-3.1 2.9.8 4.2L8 11.4l-3.7 2.1.8-4.2L2 6.4l4.2-.5z"
CYLINDER = "M3.5 4v8c0 2.4 9 2.4 9 0V4c0-2.4-9-2.4-9 0c0 2.4 9 2.4 9 0"
PAGE = '<path fill="*" fill-opacity=".85" d="M3 1h6l4 4v10H3z"/><path d="M5.5 8h5M5.5 10.5h5" stroke="#FFF"/>'
PAGES = "M5.5 5.5h8v8h-8zM10 5V2.5H2.5V10H5"
FOLDER = '<path fill="*" d="M1 3h5.5L8 5h7v8H1z"/>'
PLAY = '<path fill="*" d="M4 2.5l9 5.5-9 5.5z"/>'
SQUARE = '<path fill="*" d="M3.5 3.5h9v9h-9z"/>'
DISC = '<circle fill="*" cx="8" cy="8" r="6.5"/>'
ALARM = DISC + '<path d="M8 4.5v4.2m0 2.3v.3" stroke="#FFF"/>'
CAUTION = '<path fill="*" d="M8 1.5l7 12.5H1z"/><path d="M8 6v3.6m0 2v.3" stroke="#FFF"/>'
INFO = DISC + '<path d="M8 4.7v.3m0 2.3v4.2" stroke="#FFF"/>'
QUESTION = DISC + '<path d="M6 6.5c0-3 4-2.6 4-.4C10 7.6 8 7.7 8 9.5m0 2v.3" stroke="#FFF" fill="none"/>'
LOCK = '<path fill="*" d="M3.5 7h9v7h-9z"/><path d="M5.5 7V5a2.5 2.5 0 0 1 5 0v2" stroke="*" fill="none"/>'
BUG = '<ellipse fill="*" cx="8" cy="9" rx="3.5" ry="4.5"/><path d="M2 6l3 1.5M2 13l3-2m9-5l-3 1.5m3 5.5l-3-2"/>'
BOX = "M2.5 2.5h11v11h-11z"
TICKED_BOX = '<path fill="*" d="M2.5 2.5h11v11h-11z"/><path d="M5 8l2.3 2.3 4-5" stroke="#FFF"/>'
RING = '<circle cx="8" cy="8" r="5.5"/>'
DOTTED_RING = '<circle fill="*" cx="8" cy="8" r="5.5"/><circle fill="#FFF" stroke="none" cx="8" cy="8" r="2"/>'
ELLIPSIS = '<path stroke-linecap="round" d="M3.5 8h.01M8 8h.01M12.5 8h.01"/>'
LOGO = '<rect fill="*" x="1" y="1" width="14" height="14" rx="3"/><path d="M6.5 5l-3 3 3 3m3-6l3 3-3 3" stroke="#FFF"/>'
TREE = "M3 3h3v3H3zM10 6.5h3v3h-3zM10 11h3v3h-3zM4.5 6v6.5H10M4.5 8H10"
PANEL = "M2 3h12v10H2zM2 6h12"
TEXT_BUBBLE = "M2 3h12v8H8l-3 3v-3H2z"
DOT = '<circle fill="*" cx="8" cy="8" r="3"/>'
SPINNER = "M8 2.5a5.5 5.5 0 0 1 5.5 5.5"
NOTHING = ""

# The first rule whose pattern is found in the icon's path decides.
RULES = [
    (r"checkbox.*selected", TICKED_BOX, BLUE),
    (r"checkbox", BOX, GREY),
    (r"radio.*selected", DOTTED_RING, BLUE),
    (r"/radio", RING, GREY),
    (r"diff/(arrow|apply).*left", "M8 4L4 8l4 4m4.5-8l-4 4 4 4", BLUE),
    (r"diff/(arrow|apply)", "M8 4l4 4-4 4M3.5 4l4 4-4 4", BLUE),
    (r"tb(hidden|shown)", "M3 3h10v10H3z", GREY),
    (r"more\.|ellipsis", ELLIPSIS, GREY),
    (r"locate", "M8 4a4 4 0 1 0 .01 0zM8 1.5v4m0 5v4M1.5 8h4m5 0h4", GREY),
    (r"shadow|divider|blank|_passive|step_mask|tab[-_]|splitglue|separator|bullet", NOTHING, GREY),
    (r"step_\d", SPINNER, GREY),
    (r"treeright|right_arrow|nodecollapsed|navbarseparator|nextstep|arrow_?right", RIGHT, GREY),
    (r"treedown|down_arrow|nodeexpanded|drop(down|triangle)|arrow_?down|movedown|combo|moretabs", DOWN, GREY),
    (r"arrow_?left|/back", LEFT, GREY),
    (r"arrow_?up|moveup|scroll_up", UP, GREY),
    (r"expandall|expand(component)?(hover)?\.|updown|arrows", "M5 6.5l3-3 3 3M5 9.5l3 3 3-3", GREY),
    (r"collapseall|collapse(component)?(hover)?\.", "M5 3.5l3 3 3-3M5 12.5l3-3 3 3", GREY),
    (r"hidetoolwindow|minimize", "M3 12h10", GREY),
    (r"maximize|restore", "M3.5 3.5h9v9h-9z", GREY),
    (r"close|cancel|cross|clear|diff/remove|delete|exclude", CROSS, GREY),
    (r"gear|settings|configur|propert|externaltools|options", GEAR, GREY),
    (r"error", ALARM, RED),
    (r"warning|alert|exclmark|problems", CAUTION, YELLOW),
    (r"inspectionsok|passed|green", CHECK, GREEN),
    (r"info|note\b|noevents|nonotifications", INFO, BLUE),
    (r"question|help", QUESTION, GREY),
    (r"lock|readonly|readwrite", LOCK, GREY),
    (r"debug|breakpoint|/bug", BUG, GREEN),
    (r"execute|resume|rerun|/run|toolwindowrun|start", PLAY, GREEN),
    (r"suspend|stop|terminate|exit", SQUARE, RED),
    (r"pause", "M5.5 3.5v9m5-9v9", GREY),
    (r"intention|bulb|quickfix", BULB, YELLOW),
    (r"filter", FUNNEL, GREY),
    (r"find|search|zoom|usages", LENS, GREY),
    (r"refresh|sync|update", ROUND, GREY),
    (r"undo|rollback|reset|prev", BACK, GREY),
    (r"redo|forward|next", FORTH, GREY),
    (r"edit|rename|annotat", PENCIL, GREY),
    (r"copy|compare|duplicate|/diff\.|pages", PAGES, GREY),
    (r"add|new|create|plus", PLUS, GREY),
    (r"remove|minus|uninstall", MINUS, GREY),
    (r"check|commit|apply", CHECK, GREY),
    (r"eye|preview|show|hector|inspect", EYE, GREY),
    (r"favorite|rating|bookmark", STAR, YELLOW),
    (r"branch|merge|vcs|push|patch|changes", BRANCH, GREY),
    (r"structure|hierarchy|tree", TREE, GREY),
    (r"todo|list|group|sort|layout|message", LINES, GREY),
    (r"notifications|balloon", TEXT_BUBBLE, GREY),
    (r"project|folder|package|directory|root|module|open", FOLDER, GREY),
    (r"provider|database", CYLINDER, GREY),
    (r"file|/text|json/|xml/|regexp|image", PAGE, GREY),
    (r"window", PANEL, GREY),
    (r"up\b", UP, GREY),
    (r"down\b|import|download|get\b", "M8 2.5v8M4.5 7L8 10.5 11.5 7M3 13.5h10", GREY),
    (r"export|upload|share", "M8 10.5v-8M4.5 6L8 2.5 11.5 6M3 13.5h10", GREY),
    (r"logo|icon", LOGO, BLUE),
]
RULES = [(re.compile(pattern), sign, colour) for pattern, sign, colour in RULES]

PICTURE = re.compile(r'["=]/?([A-Za-z][A-Za-z0-9_@+./-]*)\.(?:png|svg|gif)\b')
# The look and feel puts the names of its pictures together.
LOOK_AND_FEEL = product(
    ["com/intellij/ide/ui/laf/icons/"],
    ["", "intellij/", "darcula/"],
    ["checkBox", "checkBoxIndeterminate", "radio", "checkmark", "clear"]
    + ["search", "searchWithHistory", "searchFieldWithHistory"],
    ["", "Selected"],
    ["", "Focused", "Disabled"],
)
# Our own description of the application names these.
APPLICATION = ["logo", "icon", "icon_32"]


def icons(roots):
    """The pictures that are asked for, as paths without their ending."""
    yield from APPLICATION
    yield from map("".join, LOOK_AND_FEEL)
    for root in roots:
        for file in root.rglob("*"):
            if file.suffix in {".java", ".kt", ".xml", ".form", ".properties"}:
                yield from PICTURE.findall(file.read_text(encoding="utf-8", errors="replace"))


def svg(path):
    """The picture for an icon's path."""
    name = "/" + path.lower() + "."
    sign, colour = next(((s, c) for pattern, s, c in RULES if pattern.search(name)), (DOT, GREY))
    if sign == SPINNER:
        turn = 45 * int(re.search(r"step_(\d+)", name)[1])
        sign = f'<path transform="rotate({turn} 8 8)" d="{sign}"/>'
    if sign.startswith("M"):
        sign = f'<path d="{sign}"/>'
    opacity = 0.4 if "disabled" in name else 1
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size(name)}px" height="{size(name)}px" viewBox="0 0 16 16">'
        f'<g fill="none" stroke="{colour}" stroke-width="1.5" opacity="{opacity}">'
        f'{sign.replace("*", colour)}</g></svg>\n'
    )


def size(name):
    """The sizes that the platform counts on."""
    if "/toolwindows/" in name:
        return 13
    if re.search(r"icons/.*(checkbox|radio)", name):
        return 20
    explicit = re.search(r"icon.*_(\d+)\.$", name)
    return int(explicit[1]) if explicit else 16


def main():
    target, *roots = map(Path, sys.argv[1:])
    paths = set(icons(roots))
    for path in paths:
        file = target / f"{path}.svg"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(svg(path), encoding="utf-8")
    print(f"{len(paths)} icons")


main()
