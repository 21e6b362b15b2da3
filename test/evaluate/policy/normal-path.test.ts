import { describe, expect, it } from "vitest";
import { normalPath } from "../../../src/evaluate/policy/normal-path.js";

describe("a path without detours", () => {
  it.each([
    ["a/c", "a/c"],
    ["./a//b/../c", "a/c"],
    ["a/c/", "a/c"],
    ["a/./././c", "a/c"],
    ["", "."],
    [".", "."],
    ["./", "."],
    ["a/..", "."],
    ["..", ".."],
    ["../a", "../a"],
    ["a/../../b", "../b"],
    ["../../a/../..", "../../.."],
    ["/", "/"],
    ["//", "/"],
    ["/a/../b", "/b"],
    ["/..", "/"],
    ["/../../etc/passwd", "/etc/passwd"],
    ["/a/../../b", "/b"],
    ["a b/ü/…", "a b/ü/…"],
    ["...", "..."],
    ["a/.../..b", "a/.../..b"],
    ["C:\\a\\..\\b", "C:\\a\\..\\b"],
  ])("of %j is %j", (path, normal) => {
    expect(normalPath(path)).toBe(normal);
    expect(normalPath(normal)).toBe(normal);
  });

  it("of a relative path never becomes absolute, nor the other way round", () => {
    expect(normalPath("a/../../../etc")).toBe("../../etc");
    expect(normalPath("/a/../../../etc")).toBe("/etc");
  });

  it("is found in linear time", () => {
    expect(normalPath("a/../".repeat(200_000))).toBe(".");
  });
});
