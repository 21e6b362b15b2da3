import { readFileSync, readlinkSync } from "node:fs";

/** Who holds a lock: enough to tell later, on the same machine, whether it still lives. */
export interface Owner {
  readonly pid: number;
  /** When it began, in ticks since the machine did; tells a process from a later one with its number. */
  readonly startedAt: string;
  /** Where its number means what it means: this run of the machine, and the container. */
  readonly realm: string;
}

let self: Owner | undefined;

export function thisProcess(): Owner {
  self ??= { pid: process.pid, startedAt: startOf(process.pid) ?? "0", realm: thisRealm() };
  return self;
}

export const ownerName = ({ pid, startedAt, realm }: Owner): string => `${pid}-${startedAt}-${realm}`;

export function parseOwner(name: string): Owner | undefined {
  const [, pid, startedAt = "", realm = ""] = /^(\d+)-(\d+)-([\w-]*)$/.exec(name) ?? [];
  return pid === undefined ? undefined : { pid: Number(pid), startedAt, realm };
}

/** `unknown` where the process ran on another machine or in another container, which cannot be seen from here. */
export function lifeOf(owner: Owner): "alive" | "dead" | "unknown" {
  if (owner.realm !== thisProcess().realm) return "unknown";
  if (!isRunning(owner.pid)) return "dead";
  const startedAt = startOf(owner.pid);
  return startedAt === undefined || startedAt === owner.startedAt ? "alive" : "dead";
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

/** The 22nd field; the second is the name of the program in brackets, which may hold anything. */
function startOf(pid: number): string | undefined {
  const stat = readProc(() => readFileSync(`/proc/${pid}/stat`, "latin1"));
  const fields = stat?.slice(stat.lastIndexOf(")") + 2).split(" ");
  // A process that has ended but was not yet waited for holds nothing any more.
  return fields?.[0] === "Z" ? "ended" : fields?.[19];
}

function thisRealm(): string {
  const boot = readProc(() => readFileSync("/proc/sys/kernel/random/boot_id", "latin1")) ?? "";
  const space = readProc(() => readlinkSync("/proc/self/ns/pid")) ?? "";
  return `${boot.slice(0, 8)}-${/\d+/.exec(space)?.[0] ?? ""}`;
}

function readProc(read: () => string): string | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
