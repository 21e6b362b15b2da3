import type { Command } from "commander";
import { buildDecisionGraph } from "../../definition/decision-graph.js";
import type { Drawing } from "../../model/drawing.js";
import type { OpenedDefinitions } from "../../store/definitions.js";
import type { CommonFlags } from "../flags.js";
import { addCommonFlags, formatFor } from "../flags.js";
import type { Io } from "../io.js";
import { noteNoDecisions, openReadableWorld, warnAboutDefinitions } from "../world.js";
import { drawingFormats, writeDrawing } from "../output.js";

export function addGraphCommand(parent: Command, io: Io): void {
  addCommonFlags(parent.command("graph"), drawingFormats)
    .argument("[id...]", "show only what these decisions lead to")
    .summary("draw decisions and their targets")
    .description(
      "Draw each decision with the targets of its branches, the dependencies of the targets, endpoints, the tools of " +
        "policies and the actions of gates. A target that is the id of a decision links to that decision. Prints a tree on " +
        "a terminal and JSON {nodes, edges} in a pipe; --format mermaid or dot for diagrams.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision graph
  $ agent-33 decision graph expense-approval
  $ agent-33 decision graph --format mermaid > decisions.mmd
  $ agent-33 decision graph --format dot | dot -Tsvg > decisions.svg
  $ agent-33 decision graph --json`,
    )
    .action(async (ids: readonly string[], flags: CommonFlags) => {
      const format = formatFor(flags, io, { answer: "one", more: drawingFormats });
      const { definitions } = await openReadableWorld(flags, io);
      const drawing = await drawingOf(definitions, ids);
      if (drawing.nodes.length === 0) noteNoDecisions(flags, io);
      await writeDrawing({ drawing, format, sizeHint: "specify ids" }, flags, io);
      warnAboutDefinitions(flags, io, definitions.diagnostics);
    });
}

async function drawingOf(library: OpenedDefinitions, ids: readonly string[]): Promise<Drawing> {
  for (const id of ids) await library.find(id);
  const loaded = await Promise.all(library.ids.map((id) => library.find(id)));
  const { targets, broken } = library;
  const definitions = loaded.map(({ definition }) => definition);
  return buildDecisionGraph({ definitions, targets, broken }, ids.length === 0 ? undefined : ids);
}
