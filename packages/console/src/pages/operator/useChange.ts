/** Changes by operators. */
import * as Change from "../../api/useChange.ts"

/** A change, after which all operator pages are refreshed. */
export const useChange = <Input = void>(act: (input: Input) => Promise<unknown>, onDone: () => void) =>
  Change.useChange(act, [["operator"]], onDone)
