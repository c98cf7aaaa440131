/** The dialog with the body of a delivery. */
import { useQuery } from "@tanstack/react-query"
import { deliveryQuery } from "../../api/manage.ts"
import { CodeCard } from "../../components/Code.tsx"
import { Dialog } from "../../components/Dialog.tsx"
import { Loaded, Skeleton } from "../../components/States.tsx"

/** Shows the body as it would be sent now. */
export const DeliveryDialog = ({ endpoint, id, onClose }: {
  readonly endpoint: string
  readonly id: string
  readonly onClose: () => void
}) => (
  <Dialog
    wide
    title="Payload"
    about="The body as it would be sent now. Its URLs are valid for an hour."
    onClose={onClose}
  >
    <Loaded
      query={useQuery(deliveryQuery(endpoint, id))}
      what="The payload"
      loading={<Skeleton className="h-48" />}
    >
      {({ payload }) => <CodeCard label="Payload" text={JSON.stringify(payload, null, 2)} />}
    </Loaded>
  </Dialog>
)
