"""A whole editor for docs/editor-protocol.md: shows proposals as diffs, and reads the user's decisions from stdin.

`1 y` accepts proposal 1, `1 y!` even if its file has changed, `1 n` rejects it, `1 Use a list.` with that reason."""
import difflib, itertools, json, os, subprocess, sys, threading
from pathlib import Path

command = [os.environ.get('GEMINI_COMPANION', 'gemini-companion'), 'serve', '--workspace', '.', '--ide-name', 'minimal']
companion = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding='utf-8')
proposals, numbers, turn = {}, itertools.count(1), threading.Lock()  # the open proposals by path

def send(**message):
    print(json.dumps({'jsonrpc': '2.0', **message}), file=companion.stdin, flush=True)

def show(proposal):  # replaces an older proposal for that path
    path, number = proposal['filePath'], str(next(numbers))
    before = Path(path).read_bytes() if Path(path).exists() else None
    old, new = (before or b'').decode(errors='replace').split('\n'), proposal['newContent'].split('\n')
    for line in [*difflib.unified_diff(old, new, path, path, lineterm=''), f'{number}: y, n, or a reason?']:
        print(''.join(c if c.isprintable() or c == '\t' else '\uFFFD' for c in line), flush=True)
    proposals[path] = {**proposal, 'number': number, 'before': before}

def end(proposal, method, **decision):
    del proposals[proposal['filePath']]
    send(method=method, params={'filePath': proposal['filePath'], **decision})

def accept(proposal, insists=False, writes=False):
    path, content = Path(proposal['filePath']), proposal['newContent']
    if not insists and proposal['before'] != (path.read_bytes() if path.exists() else None):
        raise ValueError('The file has changed since the proposal came.')
    if writes and not proposal['replaysEdits']:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode())
    end(proposal, 'diff/accepted', content=content)

def answer(id, method, params):
    handlers = {'diff/open': show, 'diff/reject': lambda one: end(one, 'diff/rejected'),
                'diff/accept': lambda one: accept(one, writes=True),
                'diff/close': lambda one: {'content': proposals.pop(one['filePath'])['newContent']}}
    try:
        proposal = params if method == 'diff/open' else proposals[params['filePath']]
        send(id=id, result=handlers[method](proposal) or {})
    except Exception as error:
        send(id=id, error={'code': -32000 if method in handlers else -32601, 'message': f'{method}: {error!r}'})

def listen_to_user():
    for number, _, word in (line.strip().partition(' ') for line in sys.stdin):
        reason = '' if word == 'n' else word
        with turn:
            for one in [one for one in proposals.values() if one['number'] == number and word]:
                try:
                    accept(one, word == 'y!') if word in ('y', 'y!') else end(one, 'diff/rejected', reason=reason)
                except (OSError, ValueError) as error:
                    print(error, f'{number} y! accepts it.', flush=True)
    companion.stdin.close()  # ends the companion

threading.Thread(target=listen_to_user, daemon=True).start()
for message in map(json.loads, companion.stdout):
    if 'id' in message and 'method' in message:  # not a notification, and not an error
        with turn:
            answer(message['id'], message['method'], message['params'])
