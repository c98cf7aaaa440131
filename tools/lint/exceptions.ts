/**
 * Packages and documents that a rule does not check yet. The lists only shrink.
 */

/** A rule that has exceptions. */
export type RuleName = keyof typeof exceptions

const exceptions = {
  discardedResults: [],
  prose: [
    "packages/generations",
    "packages/hosting"
  ]
} as const satisfies Readonly<Record<string, ReadonlyArray<string>>>

/** The paths, relative to the repository, at or below which the rule is not applied. */
const of = (rule: RuleName): ReadonlyArray<string> => exceptions[rule]

/** Whether the rule skips this file. */
export const includes = (rule: RuleName, path: string): boolean =>
  of(rule).some((exception) => path === exception || path.startsWith(`${exception}/`))
