"""What agents and people wrote down elsewhere, read as what it is: transcripts, notes, exports."""
