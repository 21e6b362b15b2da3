import { tmpdir } from "node:os";
import { parseArgs } from "node:util";
import { execa } from "execa";
import { parseGateKey } from "../../src/definition/gate-key.js";
import type { Block } from "./console-blocks.js";

/** A command that decides, or tells how a call went, and the question that it is through the other doors. */
export interface AskedCommand {
  /** As it was typed. */
  readonly text: string;
  /** The words after `agent-33`, without how the answer is to be written. */
  readonly words: readonly string[];
  readonly question: string;
  readonly input: object;
}

/** What takes the place of the command: it only tells what it was called with. */
const spy = `node() { :; }; agent-33() { printf '%s\\0' "$#" "$@" >&3; }`;

/** The commands of a block as the shell hands them over: with variables filled in and loops run through. */
export async function askedCommands({ commands }: Block): Promise<readonly AskedCommand[]> {
  const script = [spy, ...commands.map(({ line }) => `{ ${line}; } > /dev/null`)].join("\n");
  const { stdio } = await execa("bash", ["-c", script], {
    cwd: tmpdir(),
    stdio: ["ignore", "ignore", "inherit", "pipe"],
    reject: false,
  });
  const told = stdio[3].split("\0");
  const calls: string[][] = [];
  while (told.length > 1) calls.push(told.splice(0, Number(told.shift())));
  return calls.flatMap((words) => asked(words) ?? []);
}

/** What the shell exports in a block. */
export function exportedIn({ commands }: Block): Readonly<Record<string, string>> {
  const found = commands.flatMap(({ line }) => [...line.matchAll(/^export (\w+)=(\S+)$/g)]);
  return Object.fromEntries(found.map(([, name = "", value = ""]) => [name, value]));
}

/** Undefined: it does not decide. A flag that is not known here is an error, so that none is left out unseen. */
function asked([group = "", verb = "", ...rest]: readonly string[]): AskedCommand | undefined {
  if (group !== "decision" || !["evaluate", "dry-run", "gate", "check", "result"].includes(verb)) {
    return undefined;
  }
  const { values, positionals } = parseArgs({ args: rest, options, allowPositionals: true });
  const [subject = ""] = positionals;
  const shown = new Set(["--format", "--json", "--quiet", "--explain"]);
  const words = rest.filter((word, index) => !shown.has(word) && rest[index - 1] !== "--format");
  return {
    text: `${verb} ${rest.join(" ")}`,
    words: [group, verb, ...words],
    ...questionOf(verb, subject, values),
  };
}

const text = { type: "string" } as const;
const flag = { type: "boolean" } as const;

const options = {
  ...{ input: text, params: text, context: text, format: text },
  ...{ "session-id": text, "workflow-id": text, "stage-id": text, "correlation-id": text },
  ...{ ok: flag, failed: flag, follow: flag, strict: flag, "no-cache": flag, "fixed-params": flag },
  ...{ "dry-run": flag, json: flag, quiet: flag, explain: flag },
} as const;

type Values = Readonly<Record<string, string | boolean | undefined>>;

function questionOf(verb: string, subject: string, values: Values): Pick<AskedCommand, "question" | "input"> {
  const documents = ["input", "params", "context", "format"];
  const flags = ["json", "quiet", "explain", "failed"];
  const others = Object.entries(values).filter(([key]) => ![...documents, ...flags].includes(key));
  const common = Object.fromEntries(others.map(([key, value]) => [key.replaceAll("-", "_"), value]));
  const context = read(values["input"]);
  switch (verb) {
    case "gate": {
      const { org, domain, action, version } = parseGateKey(subject);
      const input = { org_id: org, domain, action, world_model_version: version, context, ...common };
      return { question: "decide", input };
    }
    case "check": {
      const [params, more] = [read(values["params"]), read(values["context"])];
      return { question: "check_tool_call", input: { tool: subject, params, context: more, ...common } };
    }
    case "result":
      return { question: "record_tool_result", input: { tool: subject, ok: false, ...common } };
    default:
      return { question: verb.replace("-", "_"), input: { decision_id: subject, context, ...common } };
  }
}

const read = (json: string | boolean | undefined): unknown =>
  json === undefined ? undefined : (JSON.parse(String(json)) as unknown);
