/** Rights of operators. */
import { useQuery } from "@tanstack/react-query"
import { sessionQuery } from "../../api/queries.ts"
import type { Session } from "../../api/types.ts"

const roles: ReadonlyArray<Session["role"]> = ["auditor", "support", "operator", "owner"]

/** Whether the operator has the role, or one that permits more. The service decides; this hides what it would refuse. */
export const usePermits = (needed: "support" | "operator" | "owner"): boolean => {
  const { data } = useQuery(sessionQuery)
  return data != null && roles.indexOf(data.role) >= roles.indexOf(needed)
}
