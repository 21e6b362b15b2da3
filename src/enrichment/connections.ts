import type { Agent, ClientRequest, RequestOptions } from "node:http";

/** Makes requests of one scheme. */
export interface Line {
  /** Keeps connections for further requests; none of them keeps the process running. */
  readonly agent: Agent;
  request(url: URL, options: RequestOptions): ClientRequest;
}

/** The line for a scheme, which is loaded when it is first needed. */
export type Connections = (protocol: string) => Promise<Line>;

/** Servers mostly wait for five seconds; whoever comes when they give up finds the connection closed. */
const idle = { keepAlive: true, timeout: 4000 };

/** `authorities` are the certificates that are trusted; absent: those that Node trusts. */
export function openConnections(authorities?: string): Connections {
  let plain: Promise<Line> | undefined;
  let secure: Promise<Line> | undefined;
  return (protocol) =>
    protocol === "https:" ? (secure ??= openSecure(authorities)) : (plain ??= openPlain());
}

async function openPlain(): Promise<Line> {
  const { Agent, request } = await import("node:http");
  return { agent: apart(new Agent(idle)), request };
}

async function openSecure(authorities: string | undefined): Promise<Line> {
  const { Agent, request } = await import("node:https");
  // Whatever the environment says: secrets go only to whom the certificate names.
  const trust = { rejectUnauthorized: true, ...(authorities !== undefined && { ca: authorities }) };
  return {
    agent: apart(new Agent(idle)),
    request: (url, options) => request(url, { ...options, ...trust }),
  };
}

/** The addresses that were found in order when a request was made. */
export interface Pinned {
  readonly addresses: readonly string[];
}

/** A connection to one address is not used where a name leads to another by now, which may be a forbidden one. */
function apart(agent: Agent): Agent {
  const nameOf = agent.getName.bind(agent);
  agent.getName = (options) => {
    const { addresses = [] } = (options ?? {}) as Partial<Pinned>;
    return `${nameOf(options)} ${addresses.join(" ")}`;
  };
  return agent;
}
