import type { AddressInfo } from "node:net";
import { DecisionError } from "../errors.js";
import type { HttpServer } from "../serve/http/http-server.js";
import type { ServeOptions } from "./serve-options.js";

/** Where it listens; throws what to do where it cannot. */
export async function listening(
  server: Pick<HttpServer, "listen">,
  { host, port }: Pick<ServeOptions, "host" | "port">,
): Promise<AddressInfo> {
  try {
    return await server.listen(host, port);
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    const [why, hint] = unlistenable[code] ?? [];
    if (why === undefined) throw error;
    throw new DecisionError("network_failed", `cannot listen on \`${host}\`, port ${port}: ${why}`, {
      hint,
      cause: error,
    });
  }
}

/** Why the system lets nobody listen there, and what to do. */
const unlistenable: Readonly<Record<string, readonly [string, string]>> = {
  EADDRINUSE: ["it is in use", "end what listens there, or give another with --port; 0 takes a free one"],
  EACCES: ["that is not permitted", "give a port above 1023 with --port"],
  EPERM: ["that is not permitted", "give another with --host or --port"],
  EADDRNOTAVAIL: ["this machine has no such address", "give one of its addresses with --host"],
  EINVAL: ["this is no address to listen on", "give one of the machine's addresses with --host"],
  ENOTFOUND: ["there is no such host", "give one of the machine's addresses with --host"],
  EAI_AGAIN: ["its address cannot be found out", "give one of the machine's addresses with --host"],
  EAFNOSUPPORT: ["this machine has no such addresses", "give another with --host"],
};
