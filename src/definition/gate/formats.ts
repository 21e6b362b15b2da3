import { parseInstant } from "../../expression/instant.js";

const day = /^\d{4}-\d{2}-\d{2}$/;
const email = /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/;
const uri = /^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"{}|\\^`]+$/;
const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** The formats that a schema may ask for; each looks at a text in linear time. */
export const formats = {
  "date-time": (text: string): boolean => !day.test(text) && parseInstant(text) !== undefined,
  date: (text: string): boolean => day.test(text) && parseInstant(text) !== undefined,
  email: (text: string): boolean => email.test(text),
  uri: (text: string): boolean => uri.test(text),
  uuid: (text: string): boolean => uuid.test(text),
} as const;
