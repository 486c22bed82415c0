import numpy as np
import pytest

from corollary.representation import ImageGradients, edge_features, sobel_gradients


def test_a_constant_image_has_no_edges():
    assert not edge_features(np.full((6, 5), 7.0)).any()
    assert not sobel_gradients(np.full((6, 5), 7.0)).magnitude.any()


def test_a_ramp_gives_its_slope():
    i, j = np.mgrid[0:6, 0:7]
    gradients = sobel_gradients(3.0 * i - 4.0 * j + 2)
    np.testing.assert_allclose(gradients.down, 3.0)
    np.testing.assert_allclose(gradients.right, -4.0)
    np.testing.assert_allclose(gradients.magnitude, 5.0)
    assert gradients.down.shape == (4, 5)
    # Brighter to the left and downwards.
    np.testing.assert_allclose(gradients.orientation, np.pi + np.arctan(0.75))


def test_one_pixel_by_hand():
    image = np.zeros((3, 3))
    image[0, 1], image[2, 2] = 8.0, 16.0
    gradients = sobel_gradients(image)
    assert (gradients.down[0, 0], gradients.right[0, 0]) == (-2 + 2, 2.0)


@pytest.mark.parametrize("n_bins", [4, 8, 12])
def test_a_turn_moves_the_bins_by_a_quarter(n_bins, seed):
    image = np.random.default_rng(seed).normal(size=(9, 9))
    before, after = (edge_features(x, n_bins=n_bins) for x in (image, np.rot90(image)))
    np.testing.assert_allclose(after, np.roll(before, n_bins // 4), atol=1e-12)


def test_brightness_and_contrast(seed):
    image = np.random.default_rng(seed).normal(size=(8, 10))
    features = edge_features(image, cells=2)
    np.testing.assert_allclose(edge_features(image + 5, cells=2), features, atol=1e-12)
    np.testing.assert_allclose(edge_features(3 * image, cells=2), 3 * features)
    # All magnitude is in some bin.
    assert edge_features(image).sum() == pytest.approx(sobel_gradients(image).magnitude.mean())


def test_cells_are_histograms_of_their_own():
    image = np.zeros((6, 10))
    image[:, 5:] = np.arange(5.0)  # a ramp to the right, in the right half
    image[:, :5] = np.arange(6.0)[:, None]  # and one downwards in the left half
    features = edge_features(image, n_bins=4, cells=2).reshape(2, 2, 4)
    assert features[0, 0].argmax() == 3
    assert features[1, 0].argmax() == 3
    assert features[0, 1].argmax() == 0
    assert edge_features(image, n_bins=4, cells=1).shape == (4,)
    np.testing.assert_allclose(features.mean(axis=(0, 1)), edge_features(image, n_bins=4))


def test_directions_are_counted_against_the_clock():
    up = ImageGradients(np.array([[-1.0]]), np.array([[0.0]]))
    assert up.orientation[0, 0] == pytest.approx(np.pi / 2)
    i = np.mgrid[0:4, 0:4][0]
    assert edge_features(-1.0 * i, n_bins=4).tolist() == [0.0, 1.0, 0.0, 0.0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sobel_gradients(np.ones((2, 5))), "3 x 3"),
        (lambda: sobel_gradients(np.ones((5, 5, 3))), "mean over colours"),
        (lambda: sobel_gradients(np.full((5, 5), np.nan)), "finite"),
        (lambda: edge_features(np.ones((4, 5)), cells=3), "at most 2"),
        (lambda: edge_features(np.ones((4, 5)), n_bins=0), "n_bins"),
    ],
)
def test_bad_input_is_told(call, words):
    with pytest.raises(ValueError, match=words):
        call()
