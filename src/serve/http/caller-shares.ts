import type { ServerResponse } from "node:http";
import { tooMany } from "./refusal.js";

/** How much of all that is answered at a time one caller may have. */
const share = 0.5;

/** Counts what each caller has under way: who sends slowly, or asks much at once, must leave room for others. */
export class CallerShares {
  readonly #most: number;
  readonly #underWay = new Map<string, number>();

  constructor(mostInFlight: number) {
    this.#most = Math.max(1, Math.floor(mostInFlight * share));
  }

  /** Counts until the answer is over; throws where the caller has its share already. */
  take(caller: string, response: ServerResponse): void {
    // Whoever has gone meanwhile will never be heard to go.
    if (response.closed) return;
    const count = this.#underWay.get(caller) ?? 0;
    if (count >= this.#most) throw tooMany("at a time by this caller", 1);
    this.#underWay.set(caller, count + 1);
    response.on("close", () => this.#leave(caller));
  }

  #leave(caller: string): void {
    const count = (this.#underWay.get(caller) ?? 0) - 1;
    if (count > 0) this.#underWay.set(caller, count);
    else this.#underWay.delete(caller);
  }
}
