"""Verification, alerts, erasure, signer and anchors."""
