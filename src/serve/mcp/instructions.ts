/** What an agent is told when it connects. */
export const instructions =
  "Before you act, ask `decide` (or the `decide_…` tool of the action) and act only on GREEN; before you call a tool " +
  "of yours, ask `check_tool_call`, call it with the params of the answer only, and tell how it went with " +
  "`record_tool_result`. " +
  "`list_actions` and `list_decisions` tell what can be asked, `evaluate` makes any decision by its id, and `dry_run` " +
  "shows what would be decided without a record. " +
  "To see what was decided and why, use `find_records`, `explain_record` and `find_precedents`.";
