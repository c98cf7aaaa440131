/** The first example of a README, and the packages that its installation line names. */

/** The part of a README that a reader copies first. */
export interface ReadmeExample {
  /** The arguments of the first `npm install`. */
  readonly packages: ReadonlyArray<string>
  /** The first block of TypeScript. */
  readonly code: string
}

/** Reads both from a README. Fails with an `Error` that names the missing part. */
export const read = (markdown: string): ReadmeExample => {
  const blocks = [...markdown.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].map(([, language, text]) => ({
    language,
    text: text ?? ""
  }))
  const install = blocks.find(({ language, text }) => language === "sh" && text.startsWith("npm install "))
  if (install === undefined) throw new Error("The README has no `sh` block that begins with `npm install`")
  const example = blocks.find(({ language }) => language === "ts")
  if (example === undefined) throw new Error("The README has no `ts` block")
  const [line = ""] = install.text.split("\n")
  return { packages: line.slice("npm install ".length).split(" ").filter((word) => word !== ""), code: example.text }
}
