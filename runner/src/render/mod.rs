//! Text that arrives in pieces, turned into styled terminal lines. Knows nothing of agents.
