import type { Command } from "commander";
import type { ExitCode } from "../exit-codes.js";
import { addApprovalFlag, addDurabilityFlag, addStoreFlags } from "../flags.js";
import type { Io } from "../io.js";
import type { ServeFlags } from "../serve-options.js";
import { serveOptions } from "../serve-options.js";

export function addServeCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent
    .command("serve")
    .option("--host <host>", "where to listen (else AGENT33_HOST, or 127.0.0.1)")
    .option("--port <port>", "the port; 0 takes a free one (else AGENT33_PORT, or 3333)")
    .option("--jwks <file|url>", "the public keys that tokens are signed with (else AGENT33_JWKS)")
    .option("--issuer <iss>", "who signs the tokens (else AGENT33_ISSUER)")
    .option("--audience <aud>", "whom the tokens are for (else AGENT33_AUDIENCE)")
    .option("--algorithms <list>", "the only algorithms that count, such as ES256,EdDSA")
    .option("--clock-skew <duration>", "by how much clocks may differ", "30s")
    .option("--require-scopes", "a token without scopes permits nothing; else it permits everything")
    .option("--rate-per-caller <rate>", "such as 100/1s or none (with tokens 1000/1s, else none)")
    .option("--rate-per-org <rate>", "the same for each organisation (with tokens 5000/1s, else none)")
    .option("--max-body <bytes>", "the largest body that is read", "1048576")
    .option("--max-in-flight <n>", "so many requests are answered at a time", "1024")
    .option("--request-timeout <duration>", "within which a request must have come", "10s")
    .option("--grace <duration>", "how long what is under way may take when it is told to end", "8s")
    .option("--allow-host <names>", "further names that it is reached by")
    .option("--allow-origin <origins>", "pages that may ask from a browser, such as https://app.example")
    .option("--public-metrics", "tell metrics to those without a token, too")
    .option("--mcp", "let agents in at /mcp, too (streamable HTTP)")
    .option("--decisions <dir>", "the directory of definitions")
    .option("-q, --quiet", "log only what goes wrong");
  addApprovalFlag(addDurabilityFlag(addStoreFlags(command)))
    .summary("answer over HTTP")
    .description(
      "Answers over HTTP what the command line answers: POST /decide, /decisions/ID/evaluate, /decisions/ID/dry-run, " +
        "/check, /results and /precedents; GET /decisions, /records, /records/ID/explain, " +
        "/orgs/ORG/domains/DOMAIN/actions, /openapi.json, /metrics, /healthz and /readyz. Without --jwks it listens to " +
        "this machine alone. Changed definitions are taken up as they are saved, at once on SIGHUP; what would break " +
        "something is not. SIGTERM lets it finish what it has begun.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision serve
  $ agent-33 decision serve --port 8080 --mcp
  $ agent-33 decision serve --host 0.0.0.0 --jwks https://id.example/jwks.json --issuer https://id.example --audience agent-33`,
    )
    .action(async (flags: Omit<ServeFlags, "color">) => {
      const asked = { ...flags, color: false };
      const options = serveOptions(asked, io);
      const { runServer } = await import("../run-server.js");
      done(await runServer(options, asked, io));
    });
}
