/**
 * Packages and documents that a rule does not check yet. The lists only shrink.
 */

/** A rule that has exceptions. */
export type RuleName = keyof typeof exceptions

const exceptions = {
  discardedResults: [
    "hosts/test",
    "packages/bench",
    "packages/generations",
    "packages/hosting",
    "packages/ledger",
    "packages/scheduler"
  ],
  prose: [
    "examples/orders",
    "hosts/server",
    "hosts/test",
    "packages/accounts",
    "packages/bench",
    "packages/catalog",
    "packages/generations",
    "packages/generator",
    "packages/generator-procedural",
    "packages/hosting",
    "packages/idempotency",
    "packages/ledger",
    "packages/media",
    "packages/persistence",
    "packages/rate-limit",
    "packages/scheduler",
    "packages/storage",
    "packages/testkit"
  ]
} as const satisfies Readonly<Record<string, ReadonlyArray<string>>>

/** The paths, relative to the repository, at or below which the rule is not applied. */
const of = (rule: RuleName): ReadonlyArray<string> => exceptions[rule]

/** Whether the rule skips this file. */
export const includes = (rule: RuleName, path: string): boolean =>
  of(rule).some((exception) => path === exception || path.startsWith(`${exception}/`))
