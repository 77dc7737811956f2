"""Verification, alerts, erasure, signer and anchors."""

__all__ = [
    "alerts",
    "anchor_answers",
    "anchors",
    "erase",
    "external_evidence",
    "prove",
    "rebuild",
    "secrets",
    "signer",
    "signer_new_key",
    "signer_recovery",
    "signer_removal",
    "signer_setup",
    "sudo_command",
    "tamper_signals",
    "verify",
    "verify_checkpoints",
    "verify_log",
    "verify_named",
    "worker_pool",
]
