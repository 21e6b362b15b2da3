import type { Records } from "../../record/records.js";
import type { Asker } from "../question.js";
import { refuseForeignSession } from "./own-records.js";

/** What one organisation asks in a session at the moment. */
interface UnderWay {
  readonly org: string;
  count: number;
  readonly done: Promise<void>;
  readonly end: () => void;
}

const sessions = new WeakMap<Records, Map<string, UnderWay>>();

/**
 * Does something in a session, unless it is another organisation's. Of several that ask at the same time in one that
 * is nobody's yet, the first has it: the others wait for what it records.
 */
export async function inOwnSession<T>(
  asked: { readonly session_id?: string },
  asker: Asker,
  work: () => Promise<T>,
): Promise<T> {
  const { session_id: session } = asked;
  const org = asker.caller?.org_id;
  if (org === undefined || session === undefined) return work();
  const entered = await enter(session, org, sessionsOf(asker.world.records));
  try {
    await refuseForeignSession(asked, asker);
    return await work();
  } finally {
    leave(session, entered, sessionsOf(asker.world.records));
  }
}

function sessionsOf(records: Records): Map<string, UnderWay> {
  const known = sessions.get(records) ?? new Map<string, UnderWay>();
  sessions.set(records, known);
  return known;
}

async function enter(session: string, org: string, all: Map<string, UnderWay>): Promise<UnderWay> {
  let found = all.get(session);
  while (found !== undefined && found.org !== org) {
    await found.done;
    found = all.get(session);
  }
  if (found === undefined) {
    let end = (): void => undefined;
    const done = new Promise<void>((resolve) => (end = resolve));
    found = { org, count: 0, done, end };
    all.set(session, found);
  }
  found.count++;
  return found;
}

function leave(session: string, entered: UnderWay, all: Map<string, UnderWay>): void {
  if (--entered.count > 0) return;
  all.delete(session);
  entered.end();
}
