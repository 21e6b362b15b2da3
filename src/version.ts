declare const __VERSION__: string | undefined;

/** The version of the package; set when it is built. */
export const version: string = typeof __VERSION__ === "string" ? __VERSION__ : "0.0.0-source";
