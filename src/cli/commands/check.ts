import type { Command } from "commander";
import type { OnScope } from "../../decide/request.js";
import type { Scope } from "../../model/scope.js";
import type { ScopeValues } from "../../present/result-view.js";
import { checkView } from "../../present/result-view.js";
import { isObject } from "../../expression/equal.js";
import { namesFor, withSimilarNames } from "../../present/similar-names.js";
import { present } from "../../present/format.js";
import type { ExitCode } from "../exit-codes.js";
import type { DecideFlags, ProvenanceFlags } from "../flags.js";
import {
  addApprovalFlag,
  addCommonFlags,
  addDurabilityFlag,
  addStoreFlags,
  addUnknownToolsFlag,
  formatFor,
  styleFor,
  addProvenanceFlags,
  provenanceOf,
} from "../flags.js";
import type { CallFlags } from "../input.js";
import { addCallFlags, readCallToCheck } from "../input.js";
import type { Io } from "../io.js";
import { openWorld, settingsForCall, scopeValuesOf, warn, warnAboutDefinitions } from "../world.js";
import { oneLine } from "../../text.js";

const sessionHelp = "session of the call; required if a policy depends on earlier calls";

interface CheckFlags extends DecideFlags, ProvenanceFlags, CallFlags {
  readonly explain?: boolean;
  readonly strict?: boolean;
  readonly dryRun?: boolean;
  readonly fixedParams?: boolean;
}

export function addCheckCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = addCallFlags(parent.command("check").argument("[tool]", "name of the tool"))
    .option(
      "--context <json>",
      "further context, such as session and resources: JSON, @file or -; `session` is kept for later calls of the session",
    )
    .option(
      "--fixed-params",
      "do not allow the call by an override that changes its parameters (always with --event)",
    )
    .option("--explain", "show the result of every condition")
    .option("--strict", "fail if a condition cannot be evaluated")
    .option("--dry-run", "do not record the decision or count it towards limits");
  addApprovalFlag(
    addUnknownToolsFlag(
      addDurabilityFlag(addStoreFlags(addProvenanceFlags(command, { session: sessionHelp }))),
    ),
  );
  addCommonFlags(command, ["reason"])
    .summary("check whether a tool call is allowed")
    .description(
      "Evaluate every policy that applies to the tool; all must allow the call. Print the outcome, the reason and the " +
        "parameters to call the tool with. Exit codes: 0 allowed, 4 denied, 3 a policy is invalid, or there is none, so " +
        "nothing is allowed.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision check filter_customers --session-id s-1 \\
      --params '{"segment": "enterprise"}'
  $ agent-33 decision check write_file --session-id s-1 \\
      --params @params.json --context @session.json
  $ agent-33 decision check --event - --format reason < event.json`,
    )
    .action(async (tool: string | undefined, flags: CheckFlags) => {
      const format = formatFor(flags, io, { answer: "one", more: ["reason"] });
      const call = readCallToCheck(tool, flags, io);
      const scopes = new Map<string, Scope>();
      const onScope: OnScope = (id, scope) => scopes.set(id, scope);
      const world = await openWorld(flags, io, {
        files: settingsForCall(flags, io),
        ...(flags.explain && { onScope }),
      });
      // A hook runs the call as it is, so no override may allow it by changing its params.
      const { dryRun = false, strict = false, fixedParams = flags.event !== undefined } = flags;
      const options = { dry_run: dryRun, strict, fixed_params: fixedParams };
      const result = await world.check({ ...provenanceOf(flags), ...call, ...options });
      if (format === "reason") io.out.write(`${oneLine(result.reason)}\n`);
      else {
        const values = new Map<string, ScopeValues | undefined>();
        for (const each of result.decisions)
          values.set(each.decision_id, await scopeValuesOf(each, scopes, world));
        const view = checkView(result, {
          explain: flags.explain ?? false,
          valuesOf: (id) => values.get(id),
        });
        io.out.write(await present(view, format, await styleFor(flags, io)));
      }
      const { params, context } = call;
      const names = namesFor({ ...(isObject(context) && context), params });
      for (const warning of result.warnings) warn(flags, io, withSimilarNames(warning, names));
      warnAboutDefinitions(flags, io, world.definitions.diagnostics);
      done(result.allowed ? 0 : 4);
    });
}
