/** The dialog that sends failed deliveries again. */
import { useMutation } from "@tanstack/react-query"
import { useState } from "react"
import { resendFailed } from "../../api/manage.ts"
import { queryClient } from "../../api/queries.ts"
import { Notice } from "../../components/Badge.tsx"
import { FormDialog } from "../../components/Dialog.tsx"
import { SelectField } from "../../components/Field.tsx"
import { count, plural } from "../../format/number.ts"
import { day } from "../../format/time.ts"

const spans = [
  { value: "1", label: "The last hour" },
  { value: "24", label: "The last day" },
  { value: "72", label: "The last 3 days" },
  { value: "168", label: "The last 7 days" }
]

/** Chooses since when, and shows how many are sent again. */
export const ResendFailed = ({ endpoint, onClose }: { readonly endpoint: string; readonly onClose: () => void }) => {
  const [hours, setHours] = useState("24")
  const resend = useMutation({
    mutationFn: () => resendFailed(endpoint, new Date(Date.now() - Number(hours) * day / 24).toISOString()),
    onSuccess: ({ left }) => {
      void queryClient.invalidateQueries({ queryKey: ["deliveries", endpoint] })
      if (left === 0) onClose()
    }
  })
  return (
    <FormDialog
      title="Resend failed deliveries"
      about="They are sent again under their ids, oldest first, with up to 4 attempts each."
      submit="Resend"
      change={resend}
      onClose={onClose}
    >
      <SelectField label="Events since" options={spans} value={hours} onChange={setHours} />
      {resend.data !== undefined && resend.data.left > 0 && (
        <Notice tone="warning" title={`${plural(resend.data.resent, "delivery", "deliveries")} sent again`}>
          {count(resend.data.left)} are left. Resend them once those that are pending have ended.
        </Notice>
      )}
    </FormDialog>
  )
}
