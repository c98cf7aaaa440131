/** Changes of what lists show. */
import { type QueryKey, useMutation } from "@tanstack/react-query"
import { queryClient } from "./queries.ts"

/** A change, after which the requests whose keys begin with one of `outdated` are repeated. */
export const useChange = <Input = void, Result = unknown>(
  act: (input: Input) => Promise<Result>,
  outdated: ReadonlyArray<QueryKey>,
  onDone: (result: Result) => void
) =>
  useMutation({
    mutationFn: act,
    onSuccess: async (result) => {
      onDone(result)
      await Promise.all(outdated.map((queryKey) => queryClient.invalidateQueries({ queryKey })))
    }
  })
