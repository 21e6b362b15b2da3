import type { Command } from "commander";
import type { ToolResult } from "../../decide/tool-result.js";
import type { View } from "../../present/format.js";
import { present } from "../../present/format.js";
import { toolResultSentence } from "../../present/record-text.js";
import type { StoreFlags } from "../flags.js";
import { addCommonFlags, addDurabilityFlag, addStoreFlags, formatFor, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import { findDecision, allowedCallHint } from "../../record/find-records.js";
import type { ResultFlags } from "../input.js";
import { addCallFlags, readToolResult } from "../input.js";
import { openForToolResults, settingsForCall, warn, warnAboutDefinitions } from "../world.js";
import { oneLine } from "../../text.js";

const sessionHelp = "session of the call (default: that of --event or --record)";

type CommandFlags = StoreFlags & ResultFlags;

export function addResultCommand(parent: Command, io: Io): void {
  const command = addCallFlags(parent.command("result").argument("[tool]", "name of the tool"))
    .option("--session-id <id>", sessionHelp)
    .option("--ok", "the call succeeded (default: what the `tool_response` of --event says)")
    .option("--failed", "the call failed")
    .option("--value <json>", "what the call returned, to be recorded (at most 64 KiB): JSON, @file or -")
    .option(
      "--record <record>",
      "decision that allowed the call (default: the newest call of the session without a result, with these --params)",
    );
  addCommonFlags(addDurabilityFlag(addStoreFlags(command)))
    .summary("record the result of a tool call")
    .description(
      "Record whether a tool call succeeded, linked to the check that allowed it. Policies with `requires` and " +
        "`read_before_write` depend on these records; a result that is linked to no allowed call does not count.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision result select_metric --session-id s-1 --ok
  $ agent-33 decision result write_file --session-id s-1 --failed \\
      --record 0199a3f2-1c44
  $ agent-33 decision result read_file --session-id s-1 --ok \\
      --value '{"lines": 12}'
  $ agent-33 decision result --event - < event.json`,
    )
    .action(async (tool: string | undefined, flags: CommandFlags) => {
      const format = formatFor(flags, io, { answer: "one" });
      const { tool: name, session_id, params, ok, value } = readToolResult(tool, flags, io);
      const world = await openForToolResults(flags, io, settingsForCall(flags, io));
      const decision =
        flags.record === undefined
          ? undefined
          : await findDecision(flags.record, world.records, allowedCallHint);
      const knowsParams = flags.params !== undefined || flags.event !== undefined;
      const result = await world.recordToolResult({
        tool: name,
        ...(session_id !== undefined && { session_id }),
        ok,
        ...(decision && { decision }),
        ...(knowsParams && { params }),
        ...(value !== undefined && { value }),
      });
      io.out.write(await present(resultView(result), format, await styleFor(flags, io)));
      for (const warning of result.warnings) warn(flags, io, warning);
      warnAboutDefinitions(flags, io, world.definitions.diagnostics);
    });
}

function resultView(result: ToolResult): View {
  const sentence = oneLine(toolResultSentence(result));
  return { value: result, plain: () => sentence, table: () => sentence };
}
