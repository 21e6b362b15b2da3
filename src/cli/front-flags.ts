/** What is answered without any of the commands of `decision`. */
export const frontFlags: readonly string[] = ["--help", "-h", "--version", "-V"];
