import { describe, expect, it } from "vitest";
import { DecisionError, fileErrorHint, toFileError } from "../src/errors.js";

const systemError = (code: string, syscall: string, path?: string): Error =>
  Object.assign(new Error(`${code}: failed, ${syscall}`), { code, syscall, ...(path && { path }) });

describe("an error of the file system", () => {
  it.each([
    ["EACCES", "open", "file_unreadable", "owner and the permissions of `/srv/x`"],
    ["EPERM", "unlink", "file_unwritable", "owner and the permissions of `/srv/x`"],
    ["EISDIR", "read", "file_unreadable", "`/srv/x` is a directory"],
    ["ENOTDIR", "scandir", "file_unreadable", "a part of `/srv/x` is a file"],
    ["EROFS", "open", "file_unwritable", "read-only"],
    ["ENOSPC", "write", "file_unwritable", "free some space"],
    ["EDQUOT", "write", "file_unwritable", "quota"],
    ["EMFILE", "open", "file_unreadable", "ulimit -n"],
    ["ENAMETOOLONG", "open", "file_unreadable", "shorter path"],
    ["ENOENT", "open", "file_unreadable", "check the path `/srv/x`"],
    ["ELOOP", "open", "file_unreadable", "leads back to itself"],
    ["EFBIG", "write", "file_unwritable", "ulimit -f"],
    ["ENFILE", "open", "file_unreadable", "too many open files"],
    ["EIO", "read", "file_unreadable", "the disk of `/srv/x` has failed"],
    ["EBUSY", "unlink", "file_unwritable", "`/srv/x` is in use"],
    ["ENXIO", "open", "file_unreadable", "a pipe, a socket or a device"],
  ])("says what to do about %s of %s", (code, syscall, expectedCode, hint) => {
    const error = toFileError(systemError(code, syscall, "/srv/x"));
    expect(error).toMatchObject({ code: expectedCode, hint: expect.stringContaining(hint) as string });
    expect(error?.message).toContain("`/srv/x`: " + code);
  });

  it("has a hint with the path that the caller knows, where the error has none", () => {
    expect(fileErrorHint(systemError("EISDIR", "read"), "in.json")).toBe(
      "`in.json` is a directory; specify a file",
    );
    expect(fileErrorHint(systemError("EISDIR", "read"))).toBe("the path is a directory; specify a file");
  });

  it("may have neither a path nor the name of a call", () => {
    const error = toFileError(Object.assign(new Error("EIO: failed"), { code: "EIO" }));
    expect(error).toMatchObject({ code: "file_unreadable", message: "cannot read a file: EIO: failed" });
  });

  it.each([
    new TypeError("x is not a function"),
    Object.assign(new Error("bad argument"), { code: "ERR_INVALID_ARG_TYPE" }),
    Object.assign(new Error("odd"), { code: "constructor" }),
    new DecisionError("store_failed", "cannot read the store"),
    "a text",
    undefined,
  ])("is not any other error: %s", (error) => {
    expect(toFileError(error)).toBeUndefined();
  });
});
