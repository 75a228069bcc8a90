"""From a workflow to a tool: written, replayed, judged, deployed, and watched while it is used."""
