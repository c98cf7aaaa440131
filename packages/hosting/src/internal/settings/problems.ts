/** What can be wrong with settings. */
import { Data } from "effect"

/** One thing that is wrong, as a sentence. Never carries the value of a secret. */
export interface SettingsProblem {
  /** `KINORA_PORT`, or `kinora.config.yaml: port`. */
  readonly where: string
  readonly problem: string
}

/** The start stops here; the message has one line for each problem. */
export class InvalidSettings extends Data.TaggedError("InvalidSettings")<{
  readonly problems: ReadonlyArray<SettingsProblem>
}> {
  override get message(): string {
    return this.problems.map(({ problem, where }) => `${where} ${problem}`).join("\n")
  }
}

/** With one problem. */
export const invalid = (where: string, problem: string): InvalidSettings =>
  new InvalidSettings({ problems: [{ where, problem }] })
