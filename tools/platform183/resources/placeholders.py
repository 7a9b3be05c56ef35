"""Writes stand-ins for texts that Debian removed and whose absence the platform reports as an error.

Usage: placeholders.py TARGET SOURCE_ROOT...
"""

import re
import sys
from pathlib import Path
from xml.etree import ElementTree

USES_SCHEMAS = re.compile("STANDARD_SCHEMAS|standardSchemas|addInternalResource")
SCHEMA = re.compile(r'"/?(?:standardSchemas/)?([\w.+/-]+\.(?:xsd|dtd))"')


def intentions(roots):
    """The folder of each intention's description: named with its registration, or after its class."""
    for root in roots:
        for file in root.glob("META-INF/*.xml"):
            for action in ElementTree.parse(file).iter("intentionAction"):
                class_name = re.split(r"[.$]", action.findtext("className"))[-1]
                yield action.findtext("descriptionDirectoryName") or class_name


def schemas(roots):
    """The schemas of XML itself, of XHTML and the like, which the XML support brings along."""
    for root in roots:
        for file in root.glob("com/intellij/**/*.java"):
            text = file.read_text(encoding="utf-8")
            if USES_SCHEMAS.search(text):
                yield from SCHEMA.findall(text)


def write(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def main():
    target, *roots = map(Path, sys.argv[1:])
    for folder in intentions(roots):
        write(target / "intentionDescriptions" / folder / "description.html", "<html><body></body></html>\n")
    for name in schemas(roots):
        empty = '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"/>\n' if name.endswith(".xsd") else "\n"
        write(target / "standardSchemas" / name, empty)


main()
