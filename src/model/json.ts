/** A value that JSON can carry; everything that enters or leaves the tool is one. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [key: string]: Json;
}
