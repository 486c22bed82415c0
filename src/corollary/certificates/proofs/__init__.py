"""One file per theorem, or for several that share a proof; each registers its theorems."""

from corollary.certificates.proofs import anytime as anytime
from corollary.certificates.proofs import bags as bags
from corollary.certificates.proofs import compression as compression
from corollary.certificates.proofs import coverage as coverage
from corollary.certificates.proofs import descent as descent
from corollary.certificates.proofs import held_out as held_out
from corollary.certificates.proofs import online_runs as online_runs
from corollary.certificates.proofs import pac_bayes_training as pac_bayes_training
from corollary.certificates.proofs import period as period
from corollary.certificates.proofs import planes as planes
from corollary.certificates.proofs import ridge as ridge
from corollary.certificates.proofs import unit_betting as unit_betting
from corollary.certificates.proofs import unit_median as unit_median
from corollary.certificates.proofs import unit_one_row as unit_one_row
