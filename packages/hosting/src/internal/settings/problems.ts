/** Errors in settings. */
import { Data } from "effect"

/** One error. Never contains the value of a secret. */
export interface SettingsProblem {
  /** Source of the value, such as `KINORA_PORT` or `kinora.config.yaml: port`. */
  readonly where: string
  /** Predicate of a sentence about the source. */
  readonly problem: string
}

/** Invalid settings. Stops the start. The message has one line per problem. */
export class InvalidSettings extends Data.TaggedError("InvalidSettings")<{
  readonly problems: ReadonlyArray<SettingsProblem>
}> {
  override get message(): string {
    return this.problems.map(({ problem, where }) => `${where} ${problem}`).join("\n")
  }
}

/** Returns an error with one problem. */
export const invalid = (where: string, problem: string): InvalidSettings =>
  new InvalidSettings({ problems: [{ where, problem }] })
