import { DecisionError } from "../errors.js";
import { logWriting } from "../present/log-writing.js";
import { formatFor, styleFor } from "./flags.js";
import type { Io } from "./io.js";
import type { LineageFlags, LineageQuestion } from "./lineage-question.js";
import { RecordPrinter } from "./record-printer.js";
import { note, openRecords, warn } from "./world.js";
import { pictures } from "./write-drawing.js";

type Asked = Extract<LineageQuestion, { readonly about: "list" }>;

/** Lists the decisions that have to do with something, newest first, as the log does. */
export async function listRelated({ key, range }: Asked, flags: LineageFlags, io: Io): Promise<void> {
  refusePictures(flags);
  const format = formatFor(flags, io, { answer: "many" });
  const { log } = await openRecords(flags, io);
  const printer = new RecordPrinter(io, await logWriting(format, await styleFor(flags, io)));
  let seen = 0;
  // One more than is shown tells whether there are more.
  for await (const line of log.related(key, { ...range, limit: range.limit + 1 })) {
    if (seen++ < range.limit) printer.print(line);
  }
  printer.end();
  if (seen > range.limit && flags.limit === undefined) {
    warn(flags, io, `these are the newest ${range.limit} of more; --limit N shows the newest N`);
  }
  if (seen === 0 && !flags.quiet && io.err.isTerminal) note(io, `no decision ${aboutOf(key)}`);
  if (printer.damaged > 0) {
    warn(flags, io, "records that are damaged were left out; see `agent-33 decision verify`");
  }
}

function aboutOf(key: Asked["key"]): string {
  if ("artifact" in key) return `had the artifact \`${key.artifact}\` as an input`;
  return `was about the entity \`${key.entity.type}:${key.entity.id}\``;
}

function refusePictures({ format }: LineageFlags): void {
  if (!pictures.some((each) => each === format)) return;
  throw new DecisionError("usage", `a list of decisions cannot be drawn as \`${format ?? ""}\``, {
    hint: "name one of them to draw its lineage, or use --impact to draw all that came of an artifact",
  });
}
