/** Adds bytes to where logs go; tells when it is done. */
export type WriteBytes = (bytes: Uint8Array, done: (error: Error | null) => void) => void;

export type LogLevel = "info" | "warn" | "error";

/** Whoever reads the log may be slow; nobody waits for that, and no more than this is held for it. */
const maxBufferedChars = 1024 * 1024;

/** In milliseconds. */
const batchMs = 20;

/** Writes what happens as JSON lines, a few at a time. */
export class LogWriter {
  readonly #write: WriteBytes;
  readonly #clock: () => string;
  readonly #isQuiet: boolean;
  #held = "";
  #dropped = 0;
  #writing: Promise<void> | undefined;
  #hurry = (): void => undefined;

  constructor(write: WriteBytes, options: { readonly clock: () => string; readonly quiet: boolean }) {
    this.#write = write;
    this.#clock = options.clock;
    this.#isQuiet = options.quiet;
  }

  /** Where only the worst is wanted, the rest is not written. */
  log(level: LogLevel, message: string, more: object = {}): void {
    if (this.#isQuiet && level === "info") return;
    this.#add(`${JSON.stringify({ time: this.#clock(), level, message, ...more })}\n`);
    if (level !== "info") this.#hurry();
  }

  /** Text for people, in its place among the lines. */
  writeText(text: string): void {
    this.#add(`${text}\n`);
    this.#hurry();
  }

  /** Resolves once everything is written, or cannot be; or after that many milliseconds. */
  async flush(patience = Infinity): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const tooLong = new Promise<void>((resolve) => {
      if (patience < Infinity) timer = setTimeout(resolve, patience);
    });
    await Promise.race([this.#written(), tooLong]);
    clearTimeout(timer);
  }

  async #written(): Promise<void> {
    while (this.#writing !== undefined) {
      this.#hurry();
      await this.#writing;
    }
  }

  #add(line: string): void {
    if (this.#held.length > maxBufferedChars) {
      this.#dropped++;
      return;
    }
    this.#held += line;
    this.#writing ??= this.#writeHeld();
  }

  async #writeHeld(): Promise<void> {
    await this.#gathered();
    while (this.#held !== "") {
      const lines = this.#held;
      this.#held = "";
      await new Promise<void>((resolve) => this.#write(Buffer.from(lines), () => resolve()));
      if (this.#dropped > 0 && this.#held.length < maxBufferedChars) this.#tellDropped();
    }
    this.#writing = undefined;
  }

  /** What is no trouble may wait a moment for others to be written with. */
  async #gathered(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, batchMs);
      this.#hurry = () => {
        clearTimeout(timer);
        setImmediate(resolve);
      };
    });
    this.#hurry = () => undefined;
  }

  #tellDropped(): void {
    const dropped = this.#dropped;
    this.#dropped = 0;
    this.log("warn", "log lines were dropped, as nobody read them in time", { dropped });
  }
}
