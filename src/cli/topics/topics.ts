import { exitCodes } from "../exit-codes.js";
import { approvalTopic } from "./approval.js";
import { endpointsTopic } from "./endpoints.js";
import { eventsTopic } from "./events.js";
import { expressionsTopic } from "./expressions.js";
import { guardrailsTopic } from "./guardrails.js";
import { httpTopic } from "./http.js";
import { mcpTopic } from "./mcp.js";
import { operatorsTopic } from "./operators.js";
import { gateTopic, policyTopic, scoredTopic } from "./types.js";

/** Breaks a text at words; further lines are indented. */
function fold(text: string, width: number, indent: number): string {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1) ?? "";
    if (last.length + word.length + 1 > width) lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines.join(`\n${" ".repeat(indent)}`);
}

/** Help that belongs to no single command. */
export const topics: Readonly<Record<string, () => string>> = {
  environment: () => `ENVIRONMENT

  AGENT33_DECISIONS         the directory of definitions
  AGENT33_STORE             the directory of records (else AGENT33_HOME, else the user's config directory)
  AGENT33_DURABILITY        full: a record is on the disk before its decision is told (the default); fast: soon after
  AGENT33_SIGNING_KEY       the file of the private key (Ed25519, PEM) that checkpoints are signed with
  AGENT33_CHECKPOINT_EVERY  how many records lie between two checkpoints (else 1000)
  AGENT33_SEGMENT_SIZE      how many bytes a file of records may have (else 67108864)
  AGENT33_REQUIRE_APPROVAL  true: decide only by definitions that are approved (see \`agent-33 help approval\`)
  AGENT33_HOME              the directory of settings and, unless AGENT33_STORE or a setting says otherwise, of records
                            (else the user's config directory, ~/.config/agent-33 on Linux)
  AGENT33_CACHE             the directory where definitions are kept as they were understood
                            (else the user's cache directory; empty: nowhere)
  AGENT33_HOST              where \`decision serve\` listens (else 127.0.0.1); more than this machine needs the three below
  AGENT33_PORT              at which port (else 3333)
  AGENT33_JWKS              the public keys that tokens are signed with: a file or a URL (see \`agent-33 help http\`)
  AGENT33_ISSUER            who signs the tokens
  AGENT33_AUDIENCE          whom the tokens are for
  NO_COLOR                  no colours, when not empty
  FORCE_COLOR               colours also where the output is no terminal
  TERM=dumb                 no colours

  Flags win over the environment, the environment over the project's settings, those over the user's settings,
  those over the defaults. The project's settings are in \`agent-33.json\`, in the current directory or the nearest
  above it that has one; the user's are changed with \`agent-33 decision config set KEY VALUE\`. A relative path in
  either file is taken from the file's directory. \`./decisions\` stands between the two files.
  \`agent-33 decision config list\` shows what holds and where it came from.
`,
  "exit-codes": () => `EXIT CODES

${exitCodes.map(({ code, means }) => `  ${String(code).padStart(3)}   ${fold(means, 84, 8)}`).join("\n")}
`,
  expressions: expressionsTopic,
  events: eventsTopic,
  operators: operatorsTopic,
  scored: scoredTopic,
  policy: policyTopic,
  gate: gateTopic,
  guardrails: guardrailsTopic,
  endpoints: endpointsTopic,
  approval: approvalTopic,
  http: httpTopic,
  mcp: mcpTopic,
  formatting: () => `FORMATTING

  --format table   for people; the default on a terminal
  --format plain   one line an item, columns separated by tabs
  --format json    one document; the default in a pipe where the answer is one thing
  --format jsonl   one document a line; the default in a pipe where there are many
  --format yaml
  --format target  evaluate and dry-run: only the target(s), separated by spaces, one line per input;
                   the label where there is no target
  --format audit   evaluate and dry-run of a scored decision: only the audit payload
  --format reason  check: only the reason
  --format github  validate: annotations for GitHub's workflow runs
  --format tree    graph and lineage: for people; the same as table
  --format mermaid graph and lineage: a flowchart for Markdown pages
  --format dot     graph and lineage: a digraph for Graphviz
  --format csv     export: for spreadsheets
  --json           short for --format json

  The answer, and nothing else, is on standard output; warnings and errors are on standard error.
  With --json, --format json or --format jsonl an error is JSON too:
  {"error": {"code", "message", "hint", "details"}}

  Colours follow --no-color, NO_COLOR, FORCE_COLOR and TERM; they never carry meaning alone.
`,
};
