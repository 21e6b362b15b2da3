import { describe } from "vitest";
import { fuzz } from "./fuzz/fuzz.js";

describe("the fuzzer", () => fuzz(400, 120_000));
