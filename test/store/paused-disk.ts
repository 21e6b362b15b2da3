import type { Store } from "../../src/model/store.js";
import type { Files } from "../../src/store/drivers/jsonl/files.js";
import { decided } from "./entries.js";

/** A disk whose background syncs wait until the test completes them. */
export class HeldDisk {
  readonly files: Files;
  #isHeld = false;
  #held: ((error?: Error) => void)[] = [];
  #asked = 0;
  #onAsked: () => void = () => undefined;

  constructor(files: Files) {
    this.files = {
      ...files,
      fdatasync: (fd, done) => {
        this.#asked++;
        if (!this.#isHeld) files.fdatasync(fd, done);
        else this.#held.push((error) => (error === undefined ? files.fdatasync(fd, done) : done(error)));
        this.#onAsked();
      },
    };
  }

  /** Appends until the store syncs in the background; then pauses the disk. Returns the number of appends. */
  async holdFrom(store: Store): Promise<number> {
    let written = 0;
    for (; this.#asked === 0; written++)
      await store.log.append({ body: decided({ input: `before ${written}` }) });
    this.#isHeld = true;
    return written;
  }

  /** Resolves when a sync is pending. */
  async isAsked(): Promise<void> {
    if (this.#held.length === 0) await new Promise<void>((resolve) => (this.#onAsked = resolve));
  }

  /** Completes or fails the pending sync; later ones wait again. */
  answer(error?: Error): void {
    for (const go of this.#held.splice(0)) go(error);
  }

  letGo(): void {
    this.#isHeld = false;
    this.answer();
  }
}
