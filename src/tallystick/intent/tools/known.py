"""The table of tools: which name is read by which rule.

Owns the names, as agents call their tools; `arguments.plain_name` makes one spelling of them. Must not know how a rule works.
Sources: the tool lists of the agents in docs/agents (Claude Code, Codex, Gemini CLI, Qwen Code, Copilot CLI and VS Code,
opencode, Cline, Cursor, gptme, Hermes, pi, mini-SWE-agent, SWE-agent, Windsurf, Droid), and of the reference MCP servers.
"""

from __future__ import annotations

from collections.abc import Callable

from tallystick.intent.tools import files, running
from tallystick.intent.tools.arguments import plain_name
from tallystick.intent.tools.draft import Draft
from tallystick.intent.tools.memory import keeps_skill, memorizes
from tallystick.intent.tools.reaching import fetches, reads_resource, searches_web, sends_message

Rule = Callable[[Draft], None]

_READS = """
Read ReadFile read_file read_files read_many_files read_multiple_files read_text_file read_media_file view view_file
view_image NotebookRead notebook_read read_notebook open open_file cat show_file view_line_range view_code_item
view_content_chunk get_file_contents filemap view_range LSP lsp get_errors read_lints ReadLints get_notebook_summary
vision vision_analyze read_project_structure image_view read_and_concat get_file_content read_range goto scroll_up scroll_down
"""
_LISTS = """
LS list_dir list_directory list_files list dir Glob glob find find_file find_files find_by_name file_search glob_file_search
search_filenames list_allowed_directories list_directory_with_sizes
"""
_LISTS_ALL = "tree directory_tree list_code_definition_names get_repo_map codebase_investigator"
_SEARCHES = """
Grep grep grep_search GrepSearch search_file_content search_files ripgrep rg search_dir search_file grep_files text_search
codebase_search search_codebase semantic_search SemanticSearch code_search search_in_file search_content find_in_files
"""
_WRITES = """
Write write write_file write_to_file Create create create_file create_text_file save_file file_write new_file filewrite
create_new_jupyter_notebook create_new_file write_text_file add_file create_or_update_file overwrite_file
"""
_APPENDS = "append append_file append_to_file file_append"
_EDITS = """
Edit edit MultiEdit multi_edit edit_file replace str_replace StrReplace search_replace search_and_replace replace_in_file
replace_string_in_file multi_replace_string_in_file insert_edit_into_file insert insert_content insert_line NotebookEdit
notebook_edit edit_notebook EditNotebook edit_notebook_file edit_notebook_cell hashline_edit morph replace_file_content
multi_replace_file_content propose_code edit_lines undo_edit fileedit file_edit modify_file update_file strreplace
patch_file reapply vim_edit fast_apply replace_lines delete_lines insert_at_line
"""
_PATCHES = "apply_patch ApplyPatch patch patch_many apply_diff applydiff patch_anchored"
_EDITORS = "str_replace_editor str_replace_based_edit_tool text_editor edit_tool"
_DELETES = "delete Delete delete_file remove_file delete_path rm delete_files file_delete remove"
_MOVES = "move move_file rename rename_file move_path file_move"
_COPIES = "copy copy_file copy_path file_copy"
_FOLDERS = "create_directory mkdir make_directory create_folder create_dir"
_LOOKS = "get_file_info stat file_info get_file_metadata"
_SHELLS = """
Bash bash Shell shell sh local_shell run_shell_command exec_command run_commands run_command execute_command Execute terminal
run_terminal_cmd run_in_terminal runTerminalCommand shell_command unified_exec run_bash execute_bash beforeShellExecution
bash_command execute_shell_command container.exec execute_shell Monitor start_process command interactive_bash
"""
_PYTHON = """
ipython python execute_code run_python run_code execute_cell run_cell insert_execute_code_cell python_repl code_interpreter
executeCode py
"""
_JAVASCRIPT = """
js_repl node_repl REPL run_javascript browser_evaluate browser_run_code browser_console evaluate_script puppeteer_evaluate
playwright_evaluate javascript_tool
"""
_POWERSHELL = "powershell pwsh"
_SQL = "sql execute_sql run_query run_sql"
_TASKS = "create_and_run_task"
_TYPES = "write_stdin write_bash send_command_input send_terminal_input type_into write_powershell interact_with_process tmux"
_STOPS = """
KillShell KillBash stop_bash stop_powershell TaskStop task_stop kill_process terminate_process close_shell force_terminate
kill_terminal stop_process
"""
_FETCHES = """
WebFetch web_fetch webfetch fetch fetch_url FetchUrl fetch_webpage fetch_web_content read_url_content read_url web_extract
browser_navigate open_simple_browser open_site open_url browser_preview url_fetch puppeteer_navigate playwright_navigate
navigate_page new_page browser view_web_document_content_chunk browser_action youtube github_repo openBrowserPage
"""
_WEB_SEARCHES = (
    "WebSearch web_search websearch google_web_search search_web codesearch web_search_preview brave_web_search"
)
_RESOURCES = "ReadMcpResource ReadMcpResourceTool read_mcp_resource FetchMcpResource access_mcp_resource resources/read"
_AGENTS = """
Task Agent task agent spawn_agent invoke_agent delegate_task delegate_to_agent subagent runSubagent use_subagents new_task
spawn_subagent dispatch_agent generalist browser_subagent cli_help agent_tool start_agent team_spawn_teammate spawn_teammate
mixture_of_agents create_agent explore oracle librarian call_omo_agent background_task
"""
_SKILLS = "Skill skill SlashCommand slash_command activate_skill use_skill skills skill_view load_skill"
_SCHEDULES = "CronCreate cron_create cronjob schedule_task ScheduleWakeup schedule_wakeup RemoteTrigger schedule_prompt"
_SKILLS_KEPT = "skill_manage"
_MEMORIES = "save_memory memory create_memory update_memory store_memory remember add_memory manage_memory write_memory"
_MESSAGES = (
    "SendMessage send_message PushNotification push_notification slack_post_message send_input team_send_message"
)
_NOTHING = """
TodoWrite TodoRead todo_write todo_read todowrite todoread todo write_todos update_todo manage_todo_list todo_list update_plan
TaskCreate TaskUpdate TaskGet TaskList TaskOutput task_output task_list task_get task_create task_update BashOutput read_bash
read_powershell list_bash list_powershell command_status get_terminal_output read_terminal wait wait_agent close_agent
resume_agent list_agents read_agent write_agent ToolSearch tool_search tool_search_tool ExitPlanMode exit_plan_mode
EnterPlanMode enter_plan_mode ExitSpecMode plan_exit plan_enter plan_mode_respond switch_mode SwitchMode AskUserQuestion
ask_user ask_user_question ask_question AskQuestion ask_followup_question question request_user_input clarify choice form
elicit confirm think thinking sequentialthinking plan report_intent report_progress update_topic complete_task complete submit
submit_and_exit exit_cost attempt_completion finish StructuredOutput structured_output final_answer task_done notify_user
task_boundary suggested_responses ListMcpResources ListMcpResourcesTool list_mcp_resources list_mcp_resource_templates Sleep
sleep CronList CronDelete cron_list cron_delete TeamCreate TeamDelete team_create team_delete
condense summarize_task new_rule load_mcp_documentation report_bug create_goal get_goal update_goal test_sync_tool skills_list
fetch_copilot_cli_documentation get_internal_docs session_search chats rag recall lesson progress restart
request_tool_change request_permissions vent screenshot tts text_to_speech image_generate image_generation
generate_image GenerateImage todo_replay fetch_rules trajectory_search invalid autocompact
tools/list resources/list resources/templates/list prompts/list prompts/get initialize ping logging/setLevel
completion/complete resources/subscribe resources/unsubscribe roots/list await Await terminal_last_command
get_search_view_results get_changed_files list_code_usages get_vscode_api testFailure
"""

TABLE: dict[str, Rule] = {
    plain_name(name): rule
    for names, rule in (
        (_NOTHING, running.nothing),
        (_READS, files.reads),
        (_LISTS, files.lists),
        (_LISTS_ALL, files.lists_all),
        (_SEARCHES, files.searches),
        (_WRITES, files.writes),
        ("save", files.saves),
        (_APPENDS, files.appends),
        (_EDITS, files.edits),
        ("editor", files.edits_or_writes),
        (_PATCHES, files.patches),
        (_EDITORS, files.by_command),
        (_DELETES, files.deletes),
        (_MOVES, files.moves),
        (_COPIES, files.copies),
        (_FOLDERS, files.makes_folders),
        (_LOOKS, files.looks),
        (_SHELLS, running.shells),
        (_PYTHON, running.runs_python),
        (_JAVASCRIPT, running.runs_javascript),
        (_POWERSHELL, running.runs_powershell),
        (_SQL, running.runs_sql),
        (_TASKS, running.runs_task),
        (_TYPES, running.types_into),
        (_STOPS, running.stops),
        (_FETCHES, fetches),
        (_WEB_SEARCHES, searches_web),
        (_RESOURCES, reads_resource),
        (_AGENTS, running.starts_agent),
        (_SKILLS, running.uses_skill),
        (_SCHEDULES, running.schedules),
        (_SKILLS_KEPT, keeps_skill),
        (_MEMORIES, memorizes),
        (_MESSAGES, sends_message),
    )
    for name in names.split()
}
"""Rules by the plain names of tools."""

FILE_RULES = frozenset(
    (
        files.reads, files.lists, files.lists_all, files.searches, files.writes, files.saves, files.appends, files.edits,
        files.patches, files.by_command, files.deletes, files.moves, files.copies, files.makes_folders, files.looks,
    )
)  # fmt: skip
"""Rules that take paths: of an MCP server they hold if its paths are on this machine."""

REACHING_RULES = frozenset(
    (running.shells, running.runs_python, running.runs_javascript, running.runs_powershell, running.runs_sql, fetches,
     searches_web, running.types_into)
)  # fmt: skip
"""Rules that hold for a tool of any MCP server."""


CALLING = frozenset(("exec", "multitooluseparallel", "parallel", "batch", "usemcptool", "callmcptool", "process"))
"""Tools that call other tools: `uses` reads them."""


def known_tools() -> frozenset[str]:
    """The plain names of all tools that are understood by name."""
    return CALLING | TABLE.keys()
