-- Declares the types that several modules share. No module loads this file.
---@meta

--- A text as buffers have it.
---@class GeminiCompanion.Text
---@field lines string[]
---@field dos boolean `\r\n` ends the lines
---@field bomb boolean the text begins with a byte order mark
---@field eol boolean the last line has a line ending
---@field empty? boolean the text has no line at all, unlike one empty line

--- The line endings, BOM and last line of a text in a file.
---@class GeminiCompanion.Form
---@field dos boolean
---@field bomb boolean
---@field eol boolean

--- The options of the user, see `:help gemini_companion-options`.
---@class GeminiCompanion.Options
---@field cmd? string|string[]
---@field clients? ('gemini'|'qwen')[]
---@field autostart? boolean
---@field workspace? string[]|fun(): string[]
---@field focus? boolean
---@field layout? 'vertical'|'horizontal'|'unified'
---@field worktrees? boolean
---@field git_ignored_private? boolean
---@field review? boolean
---@field diagnostics? boolean
---@field share_context? boolean
---@field review_all? boolean
---@field notify? boolean
---@field trusted? boolean
---@field log_level? 'off'|'error'|'warn'|'info'|'debug'|'trace'
---@field mappings? GeminiCompanion.Mappings|false

---@class GeminiCompanion.Mappings
---@field accept? string|false
---@field reject? string|false
---@field reason? string|false
---@field comment? string|false

--- The result of `status()`.
---@class GeminiCompanion.Status
---@field running boolean
---@field port? integer
---@field clients integer connected CLIs
---@field proposals integer open proposals
---@field ["private"] boolean the current file is private
---@field share_context boolean
---@field review_all boolean
---@field comments integer comments that no model has got
---@field changes integer files that CLIs have changed, without the reverted ones

---@alias GeminiCompanion.Kind 'change'|'create'

--- When the model gets the reason of a rejection. A rejection without `now` ends the CLI's turn.
---@alias GeminiCompanion.ReasonArrival 'now'|'nextPrompt'|'never'

--- The parameters of the request `diff/open`.
---@class GeminiCompanion.OpenDiff
---@field filePath string
---@field diff string
---@field kind GeminiCompanion.Kind
---@field ["private"] boolean
---@field cli integer
---@field replaysEdits boolean
---@field reason GeminiCompanion.ReasonArrival
---@field newContent string

--- The parameters of the request `diff/close`.
---@class GeminiCompanion.CloseDiff
---@field filePath string
---@field abandoned? boolean

--- The parameters of the requests `diff/accept`, `diff/reject` and `diff/withdraw`, and of the notifications
--- `diff/written` and `diff/unwritten`.
---@class GeminiCompanion.DiffPath
---@field filePath string

--- The parameters of the notification `companion/ready`.
---@class GeminiCompanion.Ready
---@field port integer
---@field url string
---@field listening string[]
---@field authToken string
---@field discoveryFiles table<string, string>
---@field env table<string, string>

--- The parameters of the notification `companion/clients`.
---@class GeminiCompanion.Clients
---@field count integer

--- The result of the request `companion/status`.
---@class GeminiCompanion.CompanionStatus
---@field port integer
---@field listening string[]
---@field notListening string[] a sentence for each address where the companion could not listen
---@field discoveryFiles GeminiCompanion.DiscoveryFile[]
---@field clis GeminiCompanion.ConnectedCli[] also other connected clients
---@field openDiffs integer
---@field privateFiles table<string, string> why each private file is private
---@field tasks integer

---@class GeminiCompanion.ConnectedCli
---@field name string empty if it is unknown
---@field version string
---@field awaitsHook boolean no hook has identified the CLI yet

---@class GeminiCompanion.DiscoveryFile
---@field client string
---@field path string
---@field inPlace boolean

--- The result of the request `companion/environment`.
---@class GeminiCompanion.TerminalEnvironment
---@field env table<string, string>

--- The result of the request `companion/diagnosis`.
---@class GeminiCompanion.Diagnosis
---@field text string

--- The result of the request `diff/accepted`.
---@class GeminiCompanion.Decided
---@field delivery 'delivered'|'queued'|'unknown'

--- The result of the request `diff/withdraw`.
---@class GeminiCompanion.Withdrawn
---@field withdrawn boolean

--- The result of the request `diff/resume`.
---@class GeminiCompanion.ResumedProposals
---@field proposals GeminiCompanion.ResumedProposal[]

--- A proposal that is open again after a restart.
---@class GeminiCompanion.ResumedProposal
---@field diff string
---@field cli integer
---@field reason GeminiCompanion.ReasonArrival

--- The parameters of the notification `companion/private`.
---@class GeminiCompanion.PrivateFiles
---@field reasons table<string, string> why each file is private, by its path
---@field paths string[]

--- The parameters of the request `editor/diagnostics`.
---@class GeminiCompanion.DiagnosticsRequest
---@field paths string[]
---@field severity? string

--- The result of the request `editor/unsaved`.
---@class GeminiCompanion.UnsavedFiles
---@field paths string[]

--- The parameters of the notification `cli/waiting`.
---@class GeminiCompanion.CliWaiting
---@field session string The CLI session.
---@field message string

--- The parameters of the notification `cli/answered`.
---@class GeminiCompanion.CliAnswered
---@field session string The CLI session.

--- The parameters of the notification `diff/reasonLost`.
---@class GeminiCompanion.ReasonLost
---@field filePath string
---@field reason string
---@field why string

--- The parameters of the notification `cli/finished`.
---@class GeminiCompanion.CliFinished
---@field session string The CLI session.
---@field seconds integer Since the prompt.

--- The parameters of the notification `comment/set`. Lines are 1-based.
---@class GeminiCompanion.CommentOnLines
---@field id string
---@field path string
---@field line integer
---@field endLine integer
---@field content string
---@field text? string nil while the user writes it

--- A comment as the user enters it.
---@class GeminiCompanion.EnteredComment
---@field text? string without it, the user is asked; an empty one removes the comment
---@field first? integer its first line; without it, the line of the cursor
---@field last? integer

--- A comment that no model has got.
---@class GeminiCompanion.Comment
---@field params GeminiCompanion.CommentOnLines
---@field in_proposal? boolean the user wrote it in a proposal
---@field buffer? integer the buffer with its marks
---@field mark? integer marks its lines
---@field sign? integer shows it
---@field is_lost? boolean its lines are gone from the buffer
---@field is_unsearched? boolean nobody has looked yet where its lost lines are

--- The parameters of the notification `comment/delivered`.
---@class GeminiCompanion.CommentsDelivered
---@field ids string[]

--- The parameters of the notification `comment/refused`.
---@class GeminiCompanion.CommentRefused
---@field id string
---@field reason string

--- The parameters of the notification `comment/pending`.
---@class GeminiCompanion.CommentsPending
---@field comments GeminiCompanion.CommentOnLines[]

--- The parameters of the notification `cli/command`.
---@class GeminiCompanion.CliCommand
---@field session string
---@field prompt integer
---@field title string
---@field time integer
---@field running boolean

--- The parameters of the notification `cli/changed`: the files that a CLI has changed in one prompt.
---@class GeminiCompanion.CliChanged
---@field session string
---@field prompt integer
---@field title string the first line of the prompt
---@field time integer in milliseconds since 1970
---@field files GeminiCompanion.ChangedFile[] none if the prompt has left the list

---@class GeminiCompanion.ChangedFile
---@field path string
---@field kind 'changed'|'created'|'deleted'
---@field added? integer the number of lines, if it is known
---@field removed? integer
---@field revertible boolean the text from before the prompt is kept
---@field reverted boolean
---@field ["private"] boolean
---@field mixed boolean something else may have changed the file during the prompt

--- The result of the request `cli/texts`.
---@class GeminiCompanion.KeptTexts
---@field before? string the text before the prompt, nil if the file did not exist
---@field after? string the text as the CLI left it, nil if the CLI deleted the file

--- The result of the request `cli/hunks`.
---@class GeminiCompanion.Hunks
---@field hunks GeminiCompanion.Hunk[]

--- A run of changed lines with the lines around it.
---@class GeminiCompanion.Hunk
---@field header string as in a unified diff
---@field before integer the number of its first line in the text before the prompt
---@field after integer the number of its first line in the text as the CLI left it
---@field lines string[] each begins with a space, `-` or `+`

--- A single change that the user has reverted in the buffer of all changes.
---@class GeminiCompanion.RevertedHunk
---@field hunk GeminiCompanion.Hunk
---@field path string
---@field bytes? string the bytes of the file before the revert, nil if there was no file
---@field since GeminiCompanion.TextsOfFile digests of the texts just after the revert
---@field is_reverted boolean false if the user has undone that

--- What the keys in the buffer of all changes do.
---@class GeminiCompanion.HunkActions
---@field revert fun(key: string, path: string, hunk: GeminiCompanion.Hunk)
---@field keep fun(key: string, path: string, hunk: GeminiCompanion.Hunk)
---@field undo fun(key: string)

--- The buffer with all changes of a prompt.
---@class GeminiCompanion.HunksView
---@field key string
---@field buffer integer
---@field places table<integer, GeminiCompanion.HunkPlace> by line
---@field text? GeminiCompanion.Text
---@field change? GeminiCompanion.CliChanged the state that it shows
---@field ready? fun() called once the buffer is filled

--- The place in a file that a line of that buffer shows.
---@class GeminiCompanion.HunkPlace
---@field path string
---@field line integer
---@field text? string
---@field hunk? GeminiCompanion.Hunk
---@field index? integer the number of lines from the header of the hunk

--- The result of the request `cli/revertPlan`.
---@class GeminiCompanion.RevertPlan
---@field files GeminiCompanion.PlannedFile[]
---@field question? string

---@class GeminiCompanion.PlannedFile
---@field path string
---@field action 'write'|'delete'|'nothing'|'refuse'
---@field text? string to write
---@field reason? string of a refusal
---@field warning? string the change that the user would lose
---@field differs? boolean the file's text is not the text that the CLI left

--- A file that has its text from before a prompt again.
---@class GeminiCompanion.Reverted
---@field path string
---@field before? GeminiCompanion.Text the text before the revert, nil if that was the same
---@field after? GeminiCompanion.Text the text since, if the file is not open
---@field bytes? string the bytes before the revert, nil if there was no file

--- The texts of a file at a moment: their bytes, or digests of these.
---@class GeminiCompanion.TextsOfFile
---@field disk? string nil if the file does not exist
---@field unsaved? string nil if the buffer has no unsaved changes

--- Identifies the lines of a text without a copy of them.
---@class GeminiCompanion.Fingerprint
---@field count integer
---@field number integer of the line that is compared first
---@field line string
---@field digest string

--- The last revert of a file.
---@class GeminiCompanion.RememberedRevert
---@field old GeminiCompanion.Fingerprint of the lines before the revert
---@field new GeminiCompanion.Fingerprint of the lines since
---@field differs boolean whether the lines differ, and not the form alone
---@field before? GeminiCompanion.Text the text before, until a buffer has the undo step
---@field buffer? integer the last one that is watched; nil if the file has not been open
---@field is_reverted fun(): boolean?
---@field notify fun(reverted: boolean)

--- A comparison of a file with a text.
---@class GeminiCompanion.Comparison
---@field key string identifies the text among those of the file
---@field path string
---@field content? string the text, nil if the file did not exist
---@field bars string[] the words above the text and above the file
---@field on_equal? fun(before: GeminiCompanion.Text) the user has written that text to the file, which had `before`
---@field opened? GeminiCompanion.Text the text of the file when the comparison opened
---@field left? integer the buffer with the text
---@field right? integer the buffer of the file
---@field windows? integer[] the one of the file, and that of the text
---@field origin? integer the window where the user was before
---@field group? integer
---@field was_current? boolean
---@field layout? nil
---@field is_unmarked? boolean there are too many changes to mark

--- An open proposal.
---@class GeminiCompanion.Proposal
---@field path string as the CLI wrote it
---@field number integer a later proposal has a greater number
---@field cli integer
---@field replays_edits boolean
---@field reason GeminiCompanion.ReasonArrival if the file does not change
---@field takes_reason boolean the model gets the reason of a rejection
---@field ["private"] boolean
---@field was_shared? boolean sharing was on when its companion opened it or took it up
---@field question? table identifies the last question for a reason about this text
---@field content string the proposed text
---@field base string|false the bytes of the file when the proposal arrived, `false` without a file
---@field warned? string|false the bytes of the file at the last warning
---@field view GeminiCompanion.View
---@field decided? boolean
---@field orphan? boolean no CLI waits for it
---@field is_paused? boolean its companion has ended, and the next one may take it up
---@field diff string names it after a restart of the companion
---@field new_content string the text as the CLI sent it, in `diff/open`

--- A text that the user has accepted.
---@class GeminiCompanion.AcceptedText
---@field text? GeminiCompanion.Text nil if Neovim has written it itself
---@field buffer? integer that keeps it, if there is a text
---@field is_known? boolean the user knows that the file may not have it
---@field is_queued? boolean its CLI may still get it, from this companion or the next one

--- A part of a window bar: its words, and its rank. The parts with the greatest ranks are omitted first.
---@alias GeminiCompanion.BarPart [string, integer]

--- What the user is doing, as Neovim's functions say it: `nvim_get_mode()`, `state()`, `reg_recording()`,
--- `reg_executing()` and `win_gettype()`.
---@class GeminiCompanion.Situation
---@field mode string
---@field is_blocking boolean
---@field is_locked? boolean windows and texts must not change
---@field state string
---@field has_macro boolean
---@field window string
---@field is_reviewing boolean the current tab page has a proposal, a comparison or another diff

--- A turn of the user, see `turn.lua`.
---@class GeminiCompanion.Turn
---@field marked GeminiCompanion.View[] the views that are marked as modified
---@field began integer the time of the first key, by `vim.uv.now()`
---@field is_command? boolean the user has given a command
---@field insists? boolean with `!`
---@field may_schedule? boolean a Lua function has run
---@field is_ending? boolean

--- The functions that a view calls: the user accepts, rejects, or rejects with a `reason`; the proposal leaves its
--- last window (`left`); the user is typing elsewhere (`remind`); the text or the width changes; the user has typed on
--- while the view was closing (`late_changes`); the user saves a copy; the user is back in the earlier window
--- (`returned`).
---@class GeminiCompanion.ViewHandler
---@field accept fun(insists?: boolean): boolean?
---@field reject fun()
---@field reason fun()
---@field left fun()
---@field remind fun()
---@field changed fun()
---@field late_changes fun(text: GeminiCompanion.Text)
---@field copy fun(path: string)
---@field returned fun()

---@class GeminiCompanion.View
---@field path string
---@field kind GeminiCompanion.Kind
---@field layout string
---@field on GeminiCompanion.ViewHandler
---@field left integer the buffer with the file
---@field right integer the buffer with the proposal
---@field origin integer the window where the user was before
---@field from_terminal boolean
---@field proposed GeminiCompanion.Text the text that the CLI proposed
---@field on_disk GeminiCompanion.Text the file, empty if it is not UTF-8
---@field group? integer
---@field closing? boolean
---@field takes_focus? boolean
---@field is_seen? boolean the present text of the CLI has been in sight
---@field was_current? boolean
---@field name? string the name of the buffer with the proposal
---@field windows? integer[] the one of the proposal, and that of the file
---@field hunks? integer[][] the changes that the unified layout marks
---@field is_unmarked? boolean there are too many changes to mark
---@field is_shown_as_changed? boolean
---@field has_refused? boolean the user knows that a plugin's write does not accept
---@field copied_in? GeminiCompanion.Turn the turn of the last `:w {file}`
---@field is_window_closing? boolean
---@field is_left? boolean the user has gone to another buffer
---@field replaced_at? integer the time when a newer text replaced the earlier one in sight
---@field unloaded? fun(): GeminiCompanion.Text?

--- A running companion.
---@class GeminiCompanion.Server
---@field job integer
---@field pid integer
---@field name string as `/ide status` shows it
---@field folders string[] those at its start
---@field review boolean
---@field port? integer nil until the companion is ready
---@field discovery_files? table<string, string> by client, nil until then
---@field env? table<string, string> for terminals, nil until then
---@field clients integer
---@field ["private"] table<string, string> why each private file is private
---@field stopping? boolean
---@field on GeminiCompanion.ServerHandler
---@field pending table<integer, { done: fun(result: table), fail: fun(why: string) }> the requests without an answer
---@field last_id integer

---@class GeminiCompanion.ServerHandler
---@field ready fun(params: GeminiCompanion.Ready)
---@field exit fun(problem: string?, was_ready: boolean) `problem` says why it has exited by itself
---@field request fun(method: string, params: table, done: fun(result?: table), fail: fun(why: string, code?: integer))
---@field notification fun(method: string, params: table)
