/** Changes by operators. */
import { useMutation } from "@tanstack/react-query"
import { queryClient } from "../../api/queries.ts"

/** A change, after which all operator pages are refreshed. */
export const useChange = <Input = void>(act: (input: Input) => Promise<unknown>, onDone: () => void) =>
  useMutation({
    mutationFn: act,
    onSuccess: async () => {
      onDone()
      await queryClient.invalidateQueries({ queryKey: ["operator"] })
    }
  })
