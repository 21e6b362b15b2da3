import { describe } from "vitest";
import { fuzz } from "./fuzz/fuzz.js";

describe("the fuzzer", () => fuzz(2_000, 120_000));
