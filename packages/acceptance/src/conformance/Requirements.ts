/**
 * Statements of the contract (`docs/reference`) that conformance cases prove. Each has an id by which cases name it, and is
 * quoted, in whole or in part, verbatim from its section.
 */
import { errors } from "./requirements/errors.ts"
import { jobs } from "./requirements/jobs.ts"
import { operators } from "./requirements/operators.ts"
import { reports } from "./requirements/reports.ts"
import { requests } from "./requirements/requests.ts"
import { results } from "./requirements/results.ts"
import { webhooks } from "./requirements/webhooks.ts"

/** Statements by page and by the anchor of their section. */
export const pages = {
  "http-api": { ...requests, ...jobs, ...results, ...reports },
  "webhooks": webhooks,
  "operator-api": operators,
  "errors": errors
} as const

type Pages = typeof pages

/** A page of `docs/reference`, without `.md`. */
export type Page = keyof Pages

/** Id of a statement: the anchor of its section, and a name. */
export type RequirementId = {
  [Name in Page]: { [Section in keyof Pages[Name]]: keyof Pages[Name][Section] }[keyof Pages[Name]]
}[Page]

/** A statement of the contract and its place in the documentation. */
export interface Requirement {
  readonly id: RequirementId
  readonly page: string
  /** Anchor of the section. */
  readonly section: string
  readonly quote: string
}

/** All statements, in the order of the contract. */
export const all: ReadonlyArray<Requirement> = Object.entries(pages).flatMap(([page, sections]) =>
  Object.entries(sections).flatMap(([section, statements]) =>
    // `Object.entries` widens the keys to `string`.
    (Object.entries(statements) as ReadonlyArray<[RequirementId, string]>).map(([id, quote]) => ({
      id,
      page,
      section,
      quote
    }))
  )
)

/** The quote of each statement. */
export const texts: ReadonlyMap<RequirementId, string> = new Map(all.map(({ id, quote }) => [id, quote]))
