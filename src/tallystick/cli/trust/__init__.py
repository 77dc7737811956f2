"""Commands on verification, signer, anchors and erasure."""
