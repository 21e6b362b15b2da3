import type { LogRecord } from "../../model/record.js";
import type { LogLine } from "../../model/store.js";
import { flag } from "./fields.js";

/** A record, marked where it is not what was written. */
export type ToldRecord = LogRecord & { readonly intact?: false };

export const toldRecord = ({ record, intact }: LogLine): ToldRecord => marked(record, intact);

/** Whatever else is told of a record, the mark is not lost on the way. */
export const marked = <T extends object>(told: T, intact: boolean): T & { readonly intact?: false } =>
  intact ? told : { ...told, intact: false };

export const intactSaid = flag(
  "false: the record was changed since it was written, so do not rely on it; absent: it is what was written",
);
