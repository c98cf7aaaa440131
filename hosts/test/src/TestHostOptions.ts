/** What a test can say about its service. Nothing has to be said. */
import type { Plan, PlanTable } from "@kinora/accounts"
import type { Model } from "@kinora/catalog"
import type { GenerationRequest, ScriptedGenerator } from "@kinora/generator"
import type { Http } from "@kinora/hosting"
import type { Duration } from "effect"

/** See each member. */
export interface TestHostOptions {
  /** The models, as in a configuration. Default: those of the product, `kinora-sketch-1` and `kinora-canvas-1`. */
  readonly models?: ReadonlyArray<Model.ModelInput> | undefined

  /** What the first account is given. */
  readonly account?: AccountOptions | undefined

  /**
   * What becomes of a job, or of each by its request: `{ delay: "hold" }` waits for
   * `generator.succeed` or `generator.fail`. Default: it succeeds at once.
   */
  readonly script?: Script | undefined

  /**
   * Has the models made by the drivers that they name, as in production, and so the
   * default ones painted by rule. Default false: all are made by script, whatever driver they name.
   */
  readonly procedural?: boolean | undefined

  /** `virtual`, the default: time passes when the test says so. `real`: it passes by itself. */
  readonly time?: "virtual" | "real" | undefined

  /** When virtual time begins, Unix milliseconds or a date. Default 2030-01-01T00:00:00Z. */
  readonly startsAt?: number | Date | undefined

  /** Jobs at once, of all accounts. 0: none ever starts. Default 8. */
  readonly workers?: number | undefined

  /** How long results can be downloaded. Default 24 hours. */
  readonly resultTtl?: Duration.Input | undefined

  /** What tiers allow. Default: the table of the interface. */
  readonly planTable?: PlanTable.PlanTable | undefined

  /** Limits and base URL of the HTTP interface. */
  readonly http?: Omit<Http.InterfaceOptions, "adminToken" | "resultTtl"> | undefined

  /** The operators' token. `null`: there is no interface for operators. Default: `defaultAdminToken`. */
  readonly adminToken?: string | null | undefined
}

/** What happens to requests. */
export type Script =
  | ScriptedGenerator.Script
  | ((request: GenerationRequest.GenerationRequest) => ScriptedGenerator.Script)

/** What an account is given. What is left out has its default; `null` means none. */
export interface AccountOptions {
  /** Default `account-<number>@example.com`. */
  readonly email?: string | undefined
  /** Default `pro`. */
  readonly studio?: Plan.StudioTier | null | undefined
  /** Tier of the credits group, which sets limits and brings no credits. Default `pro`. */
  readonly creditsPlan?: Plan.CreditsTier | null | undefined
  /** Credits, in one lot. Default 1 000. */
  readonly credits?: number | undefined
  /** How long plans and credits last. Default 365 days. */
  readonly lasts?: Duration.Input | undefined
}

/** When virtual time begins: later than any test runs, so that nothing has expired for a client that asks its own clock. */
export const startsAt = Date.UTC(2030, 0, 1)

/** The operators' token of a host that was told none. Known to everybody, since a test host is nobody's. */
export const defaultAdminToken = "the operators of a test host have this token"

/** How long results can be downloaded when nothing is said (D29). */
export const defaultResultTtl = "24 hours"
