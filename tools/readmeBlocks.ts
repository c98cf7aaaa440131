/** The TypeScript of a README as files, and what they print according to it. */

/** A file that a reader makes of a block, and of the blocks that continue it. */
export interface ReadmeBlock {
  /** The name in the paragraph before the block, or `3.ts` for the third block, `3.test.ts` for a test. */
  readonly file: string
  readonly code: string
  /** Whether it runs in Vitest. */
  readonly isTest: boolean
  /** The modules that the code imports: `effect`, `./picture.ts`, … */
  readonly specifiers: ReadonlyArray<string>
  /** The packages of others that the code imports and no `npm install` before it names. */
  readonly notInstalled: ReadonlyArray<string>
  /** The environment variables that the code reads. */
  readonly variables: ReadonlyArray<string>
  /** The lines that the code prints, in the order of the README. */
  readonly shown: ReadonlyArray<string>
}

/**
 * Returns the blocks of a README. A block without an import continues the block before it. A block after a paragraph that
 * ends with a path, as in "`drivers/weave.ts`:", is the file of that name.
 */
export const read = (markdown: string): ReadonlyArray<ReadmeBlock> => {
  const blocks: Array<Pick<ReadmeBlock, "file" | "code" | "shown"> & { readonly index: number }> = []
  for (const [index, match] of [...markdown.matchAll(/^```ts\n([^]*?)^```$/gm)].entries()) {
    const code = match[1] ?? ""
    const name = /`(?:[\w./-]*\/)?([\w.-]+\.ts)`:\n+$/.exec(markdown.slice(0, match.index))?.[1]
    const continued = name === undefined && specifiersOf(code).length === 0 ? blocks.pop() : undefined
    blocks.push(
      continued === undefined
        ? {
          file: name ?? `${index + 1}${isTest(code) ? ".test" : ""}.ts`,
          code,
          shown: shownIn(code),
          index: match.index
        }
        : {
          ...continued,
          code: `${continued.code}\n${code}`,
          shown: [...continued.shown, ...shownIn(code)]
        }
    )
  }
  return blocks.map(({ code, file, index, shown }) => {
    const specifiers = specifiersOf(code)
    const before = new Set(installed(markdown.slice(0, index)))
    const imported = new Set(specifiers.flatMap((specifier) => packageOf(specifier) ?? []))
    const notInstalled = [...imported].filter((name) => !before.has(name))
    return { file, code, isTest: isTest(code), shown, specifiers, notInstalled, variables: variablesOf(code) }
  })
}

/** The package of a specifier: `@kinora/ledger` of `@kinora/ledger/promise`; `undefined` for files and for Node's modules. */
export const packageOf = (specifier: string): string | undefined =>
  /^(?:\.|node:)/.test(specifier) ? undefined : /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0]

/** The packages that the commands `npm install` of a README name. */
export const installed = (markdown: string): ReadonlyArray<string> => [
  ...new Set(
    [...markdown.matchAll(/\bnpm install ([^`\n#]+)/g)]
      .flatMap(([, words = ""]) => words.split(" "))
      .filter((word) => word !== "" && !word.startsWith("-"))
  )
]

/**
 * Returns how the output differs from the lines that a README shows; nothing if it does not. The order is free, since
 * concurrent work prints when it is done. `…` stands for any text, and `a, b` also for the two lines `a` and `b`.
 */
export const differences = (shown: ReadonlyArray<string>, output: string): ReadonlyArray<string> => {
  const lines = output.split("\n").filter((line) => line.trim() !== "")
  const take = (text: string): boolean => {
    const index = lines.findIndex((line) => patternOf(text).test(line.trim()))
    if (index >= 0) lines.splice(index, 1)
    return index >= 0
  }
  const missing = shown.filter((text) => !take(text)).flatMap((text) => text.split(", ").filter((part) => !take(part)))
  return [
    ...missing.map((text) => `not printed: ${text}`),
    ...lines.map((line) => `not in the README: ${line}`)
  ]
}

/**
 * Returns the milliseconds until a block can run within one window of its limits: none, unless the present one ends soon. A
 * block that counts in two windows prints other numbers. The shortest windows of READMEs are ten seconds of
 * `@kinora/rate-limit`, and days of UTC in other packages.
 */
export const untilWindowHasTime = ({ specifiers }: ReadmeBlock, now: number): number => {
  const window = specifiers.some((self) => self.startsWith("@kinora/rate-limit")) ? 10_000 : 86_400_000
  const left = window - now % window
  return left < windowLeftMin ? left : 0
}

// -----------------------------------------------------------------------------
// internal
// -----------------------------------------------------------------------------

const specifiersOf = (code: string): ReadonlyArray<string> => [
  ...new Set([...code.matchAll(/^(?:import|\} from) .*?"([^"]+)"/gm)].map(([, specifier = ""]) => specifier))
]

const isTest = (code: string): boolean =>
  specifiersOf(code).some((self) => /^(?:@effect\/)?vitest$|^@kinora\/[^/]+\/testing$/.test(self))

const variablesOf = (text: string): ReadonlyArray<string> => {
  const code = text.replaceAll(/^\s*(?:\/?\*|\/\/).*$/gm, "")
  return [
    ...new Set([
      ...[...code.matchAll(/process\.env(?:\["|\.)(\w+)|Config\.\w+\("(\w+)"/g)].map(([, a, b]) => a ?? b ?? ""),
      ...[...code.matchAll(/^const \{ (.*) \} = process\.env$/gm)].flatMap(([, names = ""]) =>
        names.split(", ").map((name) => name.split(" ")[0] ?? "")
      )
    ])
  ]
}

/** The comments after calls of `log`, and the lines of comments after the last line of code. */
const shownIn = (code: string): ReadonlyArray<string> => {
  const lines = code.trimEnd().split("\n")
  const last = lines.slice(lines.findLastIndex((line) => !line.startsWith("// ")) + 1)
  return [
    ...[...code.matchAll(/\blog\(.*\) \/\/ (.*)$/gm)].map(([, text = ""]) => text),
    ...last.map((line) => line.slice("// ".length))
  ]
}

const patternOf = (text: string): RegExp =>
  new RegExp(`^${text.trim().replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("…", ".*")}$`)

/** Several times as long as a block that counts takes. */
const windowLeftMin = 6_000
