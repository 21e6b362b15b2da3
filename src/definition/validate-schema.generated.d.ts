import type { ErrorObject } from "ajv";

/** Made by `npm run build` from schema.ts. */
export declare const validate: { (value: unknown): boolean; errors?: ErrorObject[] | null };
