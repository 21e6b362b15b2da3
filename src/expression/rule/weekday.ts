import type { Json } from "../../model/json.js";
import { isList } from "../equal.js";
import type { Failure } from "../failure.js";
import { mustBe } from "./wording.js";

const names = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

export const someDays = "a day (`monday`, `mon`, or 0 to 6 from Sunday on) or a list of days";

/** Days of the week as numbers, 0 being Sunday. */
export function daysOfWeek(value: Json): ReadonlySet<number> | Failure {
  const days = (isList(value) ? value : [value]).map(dayOf);
  return days.length === 0 || days.includes(-1) ? mustBe(someDays, value) : new Set(days);
}

function dayOf(value: Json): number {
  if (typeof value === "number") return names[value] === undefined ? -1 : value;
  if (typeof value !== "string") return -1;
  const written = value.toLowerCase();
  return names.findIndex((name) => written === name || written === name.slice(0, 3));
}
